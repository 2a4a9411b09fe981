"""TAP for tests in Python: as tests/t.h and tests/tap.sh."""
import sys
import traceback

count = failed = 0


def ok(fact, name):
    """Reports a check; its name is a statement."""
    global count, failed
    count += 1
    failed += not fact
    print(f"{'ok' if fact else 'not ok'} {count} - {name}", flush=True)
    return fact


def refuses(error, pattern, call, *args):
    """Whether the call raises that, with a sentence that has the pattern."""
    try:
        call(*args)
    except error as e:
        if pattern in str(e):
            return True
        print(f"# {e}")
    return False


def run(*tests):
    """Runs the tests, and says how many checks there were."""
    for test in tests:
        try:
            test()
        except Exception:
            print("# " + traceback.format_exc().replace("\n", "\n# "))
            ok(False, f"{test.__name__} comes to its end")
    print(f"1..{count}")
    sys.exit(failed > 0)
