#pragma once

/* oneDNN's engine and stream, for convolutions and pools.  Not thread-safe. */
struct num_dnn;

struct num_dnn *num_dnn_new(void);
void num_dnn_free(struct num_dnn *dnn);

/* num_dnn_bf16() returns 1 if oneDNN supports bfloat16 on this processor. */
int num_dnn_bf16(void);

/* num_dnn_bf16_faster() returns 1 if bfloat16 is faster on this processor: it
 * has an instruction for its products (AVX512-BF16: Zen 4, Cooper Lake). */
int num_dnn_bf16_faster(void);

/* num_dnn_tiles() returns 1 if this processor has AMX (Sapphire Rapids) and
 * oneDNN may use it; for example ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 forbids
 * it. */
int num_dnn_tiles(void);

/* num_libraries() returns the names and versions of OpenBLAS and oneDNN, which
 * the caller frees. */
char *num_libraries(void);
