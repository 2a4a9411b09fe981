#ifndef SELECT_STREAM_H
#define SELECT_STREAM_H

/*
 * The last coordinate of a random stream of RNG_PLAN: its purpose.  The first
 * two are the epoch and a number that depends on the purpose.
 */
enum select_stream {
    STREAM_ORDER,    /* shuffle, replace; the start of every other order */
    STREAM_SWAP,     /* (group of batches) */
    STREAM_SOFTEN,   /* (group of batches) */
    STREAM_AVOID,    /* (0) */
    STREAM_REGIONS,  /* (split) */
    STREAM_OSGD,     /* (step) */
    STREAM_SPECTRAL, /* (block) */
};

#endif
