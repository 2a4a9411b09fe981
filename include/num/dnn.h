#ifndef NUM_DNN_H
#define NUM_DNN_H

/*
 * The processor as oneDNN sees it: convolutions and pools are made for it.
 * Not to be used by two threads at once.
 */
struct num_dnn;

struct num_dnn *num_dnn_new(void);
void num_dnn_free(struct num_dnn *dnn);

/* num_dnn_bf16() returns 1 when this processor computes in bfloat16. */
int num_dnn_bf16(void);

/* num_dnn_bf16_gains() returns 1 when this processor is known to be faster in
 * bfloat16: it has an instruction for its products (AVX512-BF16: Zen 4, Cooper
 * Lake). */
int num_dnn_bf16_gains(void);

/* num_dnn_tiles() returns 1 when this processor has AMX (Sapphire Rapids) and
 * oneDNN may use it: ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16, say, forbids it. */
int num_dnn_tiles(void);

#endif
