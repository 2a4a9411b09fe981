#pragma once

/* Every objective as its header states it: naive_x.h has the equation of x. */
#include "loss/naive_barlow_twins.h"
#include "loss/naive_bimodal.h"
#include "loss/naive_clip.h"
#include "loss/naive_cyclip.h"
#include "loss/naive_dcl.h"
#include "loss/naive_hcl.h"
#include "loss/naive_infonce.h"
#include "loss/naive_isogclr_sqh.h"
#include "loss/naive_running.h"
#include "loss/naive_sampled.h"
#include "loss/naive_siglip.h"
#include "loss/naive_simclr.h"
#include "loss/naive_simco.h"
#include "loss/naive_spectral_cl.h"
#include "loss/naive_tau_simclr.h"
#include "loss/naive_vicreg.h"

/* value is reported; it may differ from the differentiated function. */
static const struct {
    const char *name;
    double (*loss)(const struct naive *k, const double *z);
    double (*value)(const struct naive *k, const double *z);
} naive_objectives[] = {
    {"simclr", naive_simclr, NULL},
    {"dcl", naive_dcl, NULL},
    {"infonce", naive_infonce_across, NULL},
    {"flatclr", naive_dcl, naive_infonce},
    {"hcl", naive_hcl, NULL},
    {"sogclr", naive_running_rows, NULL},
    {"isogclr", naive_running_rows, NULL},
    {"isogclr_sqh", naive_isogclr_sqh, NULL},
    {"simco", naive_simco, NULL},
    {"tau_simclr", naive_tau_simclr, NULL},
    {"spectral_cl", naive_spectral_cl, NULL},
    {"barlow_twins", naive_barlow_twins, NULL},
    {"vicreg", naive_vicreg, NULL},
    {"clip", naive_clip, NULL},
    {"cyclip", naive_cyclip, NULL},
    {"siglip", naive_siglip, NULL},
    {"sogclr_bimodal", naive_bimodal, NULL},
    {"isogclr_bimodal", naive_bimodal, NULL},
    {"emc2_bimodal", naive_sampled, NULL},
    {"emc2", naive_sampled, NULL},
    {"cache", naive_sampled, NULL},
};
