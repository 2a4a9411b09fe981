#include <string.h>

#include "halves.h"
#include "maps.h"
#include "num/threads.h"
#include "num/tokens.h"
#include "plain_gelu.h"
#include "t.h"

static const struct {
    enum num_gelu form;
    const char *name;
    double at_one; /* gelu(1), of PyTorch where it has the form */
} forms[] = {
    {NUM_GELU_ERF, "erf", 0.841344746},
    {NUM_GELU_TANH, "tanh", 0.841191991},
    {NUM_GELU_QUICK, "quick", 0.845795765},
};

enum { FORMS = sizeof forms / sizeof *forms };

static void
slope_of_the_definition_is_a_central_difference(int f)
{
    const double step = 1e-5;
    double most = 0;

    for (double x = -8; x <= 8; x += 0.03125) {
        double up = plain_gelu(forms[f].form, x + step);
        double down = plain_gelu(forms[f].form, x - step);

        most = fmax(most, fabs((up - down) / (2 * step) -
                               plain_gelu_slope(forms[f].form, x)));
    }
    T(most < 1e-9, "%s: the slope is the central difference in double, %.1e",
      forms[f].name, most);
    T_NEAR(plain_gelu(forms[f].form, 1), forms[f].at_one, 1e-8,
           "%s: the value at 1 is the published one", forms[f].name);
}

static void
loops_agree_with_the_definition(int f)
{
    enum { N = 16385 };
    float *x = mem_array(N, sizeof *x), *dy = normal(N, 1);
    float *y = mem_array(N, sizeof *y), *dx = mem_array(N, sizeof *dx);
    double most = 0, slope = 0;

    for (int i = 0; i < N; i++)
        x[i] = (float)(i - N / 2) / 1024;
    num_gelu_forward(forms[f].form, N, 0, x, y);
    num_gelu_backward(forms[f].form, N, 0, x, dy, dx);
    for (int i = 0; i < N; i++) {
        most = fmax(most, fabs(y[i] - plain_gelu(forms[f].form, x[i])) /
                              fmax(1, fabsf(x[i])));
        slope = fmax(
            slope, fabs(dx[i] - dy[i] * plain_gelu_slope(forms[f].form, x[i])) /
                       fmax(1, fabsf(dy[i] * x[i])));
    }
    T(most < 4e-7, "%s: y of -8 to 8, error %.1e", forms[f].name, most);
    T(slope < 1e-6, "%s: dx, error %.1e", forms[f].name, slope);
    num_threads(3);
    num_gelu_backward(forms[f].form, N, 0, x, dy, y);
    num_gelu_backward(forms[f].form, N, 0, x, dy, dy);
    num_threads(1);
    T(!memcmp(dx, y, N * sizeof *y) && !memcmp(dx, dy, N * sizeof *y),
      "%s: three threads, and dx over dy, give the same bits", forms[f].name);
    num_gelu_forward(forms[f].form, N, 0, x, y);
    num_gelu_forward(forms[f].form, N, 0, x, x);
    T(!memcmp(x, y, N * sizeof *y), "%s: y over x gives the same bits",
      forms[f].name);
    free(x);
    free(y);
    free(dx);
    free(dy);
}

static void
ends_are_finite_and_nan_stays(int f)
{
    float x[] = {-1e4f, -100, 0, 100, 1e4f, NAN}, y[6], dx[6];
    const float one[] = {1, 1, 1, 1, 1, 1};

    num_gelu_forward(forms[f].form, 6, 0, x, y);
    num_gelu_backward(forms[f].form, 6, 0, x, one, dx);
    T(fabsf(y[0]) < 1e-20f && fabsf(y[1]) < 1e-20f && y[2] == 0 &&
          y[3] == 100 && y[4] == 1e4f,
      "%s: 0 far below, x far above", forms[f].name);
    T(fabsf(dx[0]) < 1e-20f && dx[2] == 0.5f && dx[4] == 1,
      "%s: slopes 0 far below, 1/2 at 0, 1 far above", forms[f].name);
    T(isnan(y[5]) && isnan(dx[5]), "%s: a NaN stays a NaN", forms[f].name);
}

/* The same numbers as bfloat16: the results of f32, rounded. */
static void
halves_are_f32_rounded(int f)
{
    enum { N = 5000 };
    float *x = normal(N, 1), *dy = normal(N, 2);
    float *y = mem_array(N, sizeof *y), *dx = mem_array(N, sizeof *dx);
    void *half = halves_of(N, x), *dhalf = halves_of(N, dy);
    void *to = mem_array(N, 2);

    num_gelu_forward(forms[f].form, N, 0, x, y);
    num_gelu_backward(forms[f].form, N, 0, x, dy, dx);
    num_gelu_forward(forms[f].form, N, 1, half, to);
    num_gelu_backward(forms[f].form, N, 1, half, dhalf, dhalf);
    T(halves_equal(N, to, y) && halves_equal(N, dhalf, dx),
      "%s: bfloat16 gives the same, rounded", forms[f].name);
    free(x);
    free(dy);
    free(y);
    free(dx);
    free(half);
    free(dhalf);
    free(to);
}

int
main(void)
{
    num_threads(1);
    for (int f = 0; f < FORMS; f++) {
        slope_of_the_definition_is_a_central_difference(f);
        loops_agree_with_the_definition(f);
        ends_are_finite_and_nan_stays(f);
        halves_are_f32_rounded(f);
    }
    return t_done();
}
