"""TAP for tests in Python, as tests/t.h and tests/tap.sh."""
import sys
import traceback

count = failed = 0


def ok(fact, name):
    """Reports a check; its name is a statement that must hold."""
    global count, failed
    count += 1
    failed += not fact
    print(f"{'ok' if fact else 'not ok'} {count} - {name}", flush=True)
    return fact


def refuses(error, pattern, call, *args):
    """Whether the call raises that error with the pattern in its message."""
    try:
        call(*args)
    except error as e:
        if pattern in str(e):
            return True
        print(f"# {e}")
    return False


def run(*tests):
    """Runs the tests and prints the number of checks."""
    for test in tests:
        try:
            test()
        except Exception:
            print("# " + traceback.format_exc().replace("\n", "\n# "))
            ok(False, f"{test.__name__} raises no exception")
    print(f"1..{count}")
    sys.exit(failed > 0)
