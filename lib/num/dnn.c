#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/err.h"
#include "util/isa.h"
#include "util/mem.h"

#include "dnn_op.h"

/* Limits oneDNN to the instruction sets that foil is limited to.  oneDNN reads
 * the setting at its first call, so this runs before main(). */
__attribute__((constructor)) static void
limit_isa(void)
{
    if (util_isa() < util_isa_most())
        num_dnn_ok(dnnl_set_max_cpu_isa(util_isa() == UTIL_ISA_V3
                                            ? dnnl_cpu_isa_avx2
                                            : dnnl_cpu_isa_sse41));
}

struct num_dnn *
num_dnn_new(void)
{
    struct num_dnn *dnn = mem_array(1, sizeof *dnn);

    num_dnn_ok(dnnl_engine_create(&dnn->engine, dnnl_cpu, 0));
    num_dnn_ok(dnnl_stream_create(&dnn->stream, dnn->engine,
                                  dnnl_stream_default_flags));
    return dnn;
}

void
num_dnn_free(struct num_dnn *dnn)
{
    if (!dnn)
        return;
    num_dnn_ok(dnnl_stream_destroy(dnn->stream));
    num_dnn_ok(dnnl_engine_destroy(dnn->engine));
    free(dnn);
}

int
num_dnn_bf16(void)
{
    return util_isa() == UTIL_ISA_V4;
}

/* Whether oneDNN may use all instructions of a set. */
static int
has_isa(dnnl_cpu_isa_t set)
{
    return (dnnl_get_effective_cpu_isa() & set) == set;
}

int
num_dnn_bf16_faster(void)
{
    return has_isa(dnnl_cpu_isa_avx512_core_bf16);
}

int
num_dnn_tiles(void)
{
    return has_isa(dnnl_cpu_isa_avx512_core_amx);
}

dnn_md
num_dnn_map(const struct num_map *map)
{
    dnnl_dims_t dims = {(dnnl_dim_t)map->n, (dnnl_dim_t)map->c,
                        (dnnl_dim_t)map->h, (dnnl_dim_t)map->w};
    dnnl_format_tag_t tag = map->block == 16  ? dnnl_nChw16c
                            : map->block == 8 ? dnnl_nChw8c
                                              : dnnl_nchw;

    REQUIRE(map->c % map->block == 0);
    return num_dnn_md_new(4, dims, map->bf16 ? dnnl_bf16 : dnnl_f32, tag);
}

dnnl_primitive_attr_t
num_dnn_attr(int add, int relu)
{
    dnnl_primitive_attr_t attr;
    dnnl_post_ops_t post;

    num_dnn_ok(dnnl_primitive_attr_create(&attr));
    num_dnn_ok(dnnl_primitive_attr_set_scratchpad_mode(
        attr, dnnl_scratchpad_mode_user));
    num_dnn_ok(dnnl_post_ops_create(&post));
    if (add)
        num_dnn_post_add(post);
    if (relu)
        num_dnn_post_relu(post);
    num_dnn_ok(dnnl_primitive_attr_set_post_ops(attr, post));
    num_dnn_ok(dnnl_post_ops_destroy(post));
    return attr;
}

void
num_dnn_op_init(struct dnn_op *op, const struct num_dnn *dnn,
                dnnl_primitive_desc_t desc)
{
    dnn_md pad =
        dnnl_primitive_desc_query_md(desc, dnnl_query_scratchpad_md, 0);
    const char *name;

    *op = (struct dnn_op){0};
    num_dnn_ok(
        dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name));
    op->name = mem_text(name); // oneDNN 3 frees it with the description
    num_dnn_ok(dnnl_memory_create(&op->scratchpad, pad, dnn->engine,
                                  DNNL_MEMORY_NONE));
    op->room = dnnl_memory_desc_get_size(pad);
    num_dnn_ok(dnnl_primitive_create(&op->primitive, desc));
    num_dnn_ok(dnnl_primitive_desc_destroy(desc));
}

void
num_dnn_op_arg(struct dnn_op *op, const struct num_dnn *dnn, int which,
               dnn_md desc)
{
    dnnl_exec_arg_t *arg = &op->arg[op->count++];

    REQUIRE(op->count <= DNN_ARGS);
    arg->arg = which;
    num_dnn_ok(
        dnnl_memory_create(&arg->memory, desc, dnn->engine, DNNL_MEMORY_NONE));
}

void
num_dnn_op_run(const struct dnn_op *op, const struct num_dnn *dnn,
               void *const *data, void *scratch)
{
    dnnl_exec_arg_t arg[DNN_ARGS + 1];

    for (int i = 0; i < op->count; i++) {
        arg[i] = op->arg[i];
        num_dnn_ok(dnnl_memory_set_data_handle(arg[i].memory, data[i]));
    }
    arg[op->count] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, op->scratchpad};
    num_dnn_ok(dnnl_memory_set_data_handle(op->scratchpad, scratch));
    num_dnn_ok(
        dnnl_primitive_execute(op->primitive, dnn->stream, op->count + 1, arg));
    num_dnn_ok(dnnl_stream_wait(dnn->stream));
}

void
num_dnn_op_release(struct dnn_op *op)
{
    for (int i = 0; i < op->count; i++)
        num_dnn_ok(dnnl_memory_destroy(op->arg[i].memory));
    if (op->primitive) {
        num_dnn_ok(dnnl_memory_destroy(op->scratchpad));
        num_dnn_ok(dnnl_primitive_destroy(op->primitive));
    }
    free(op->name);
    *op = (struct dnn_op){0};
}

void
num_dnn_op_reorder(struct dnn_op *op, const struct num_dnn *dnn, dnn_md from,
                   dnn_md to, int add)
{
    dnnl_primitive_attr_t attr = num_dnn_attr(add, 0);
    dnnl_primitive_desc_t desc;

    num_dnn_ok(dnnl_reorder_primitive_desc_create(&desc, from, dnn->engine, to,
                                                  dnn->engine, attr));
    num_dnn_ok(dnnl_primitive_attr_destroy(attr));
    num_dnn_op_init(op, dnn, desc);
    num_dnn_op_arg(op, dnn, DNNL_ARG_FROM, from);
    num_dnn_op_arg(op, dnn, DNNL_ARG_TO, to);
}

char *
num_libraries(void)
{
    static const char *const threads[] = {"none", "itself", "OpenMP"};
    const dnnl_version_t *dnn = dnnl_version();
    char version[32] = "";

    sscanf(openblas_get_config(), "OpenBLAS %31s", version);
    return mem_format(
        "OpenBLAS %s, kernels for %s, threads by %s; oneDNN %d.%d.%d", version,
        openblas_get_corename(), threads[openblas_get_parallel()], dnn->major,
        dnn->minor, dnn->patch);
}
