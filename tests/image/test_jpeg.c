#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "image/codec.h"
#include "image/decode.h"
#include "jpegs.h"
#include "t.h"
#include "util/file.h"

static struct err err;
static struct image_decoder *decoder;

static int
decode(const struct data_bytes *bytes, enum image_policy policy,
       struct image *image)
{
    return image_codec_decode(&decoder, bytes->data, bytes->len,
                              IMAGE_MAX_PIXELS, policy, NULL, image, &err);
}

/* Returns the largest difference between an image and want[h,w,3]. */
static int
off_by(const struct image *image, const uint8_t *want)
{
    int most = 0;

    for (size_t i = 0; i < image->width * image->height * 3; i++) {
        int d = abs(image->pixel[i] - want[i]);

        most = d > most ? d : most;
    }
    return most;
}

static void
pixels_come_back(void)
{
    struct data_bytes bytes = {0}, again = {0};
    struct image image = {0};
    uint8_t grey[H * W * 3];
    size_t width, height;

    paint(3);
    T(!image_jpeg_encode(smooth, W, H, 3, 100, &bytes, &err), "colour");
    T(!decode(&bytes, IMAGE_REFUSE, &image) && image.width == W &&
          image.height == H,
      "decoded");
    T(off_by(&image, smooth) <= 3, "colour is decoded to within 3 levels");
    T(!image_jpeg_encode(smooth, W, H, 3, 100, &again, &err) &&
          again.len == bytes.len && !memcmp(again.data, bytes.data, again.len),
      "the same pixels give the same bytes");
    T(!image_codec_header(&decoder, bytes.data, bytes.len, W * H, &width,
                          &height, &err) &&
          width == W && height == H,
      "the header has the size");

    paint(1);
    for (size_t i = 0; i < sizeof grey; i++)
        grey[i] = smooth[i / 3];
    T(!image_jpeg_encode(smooth, W, H, 1, 100, &bytes, &err), "grey");
    T(!decode(&bytes, IMAGE_REFUSE, &image) && off_by(&image, grey) <= 1,
      "grey has three equal channels");
    data_bytes_release(&bytes);
    data_bytes_release(&again);
    image_release(&image);
}

/* The start-of-frame segment: components at 9, sampling of the first at 11. */
static uint8_t *
frame_of(const struct data_bytes *bytes)
{
    for (size_t i = 2; i + 4 < bytes->len;) {
        if (bytes->data[i + 1] >= 0xc0 && bytes->data[i + 1] <= 0xc2)
            return bytes->data + i;
        i += 2 + (size_t)(bytes->data[i + 2] << 8 | bytes->data[i + 3]);
    }
    return NULL;
}

static void
form_is_as_promised(void)
{
    struct data_bytes bytes = {0};

    paint(3);
    image_jpeg_encode(smooth, W, H, 3, 95, &bytes, &err);
    T(frame_of(&bytes)[1] == 0xc0 && frame_of(&bytes)[9] == 3 &&
          frame_of(&bytes)[11] == 0x11,
      "colour: baseline, three components, 4:4:4");
    image_jpeg_encode(smooth, W, H, 1, 95, &bytes, &err);
    T(frame_of(&bytes)[9] == 1, "grey: one component");
    T(image_jpeg_encode(smooth, 0, H, 1, 95, &bytes, &err) == -1, "%s",
      err.msg);
    T(image_jpeg_encode(smooth, 70000, 1, 1, 95, &bytes, &err) == -1, "%s",
      err.msg);
    data_bytes_release(&bytes);
}

/* The same coefficients in another order are the same image. */
static void
progressive_equals_baseline(void)
{
    struct kind kind = {3, JCS_RGB, JCS_YCbCr, 0, 0, 1};
    struct data_bytes plain = write_kind(&kind), progressive;
    struct image a = {0}, b = {0};

    kind.progressive = 1;
    progressive = write_kind(&kind);
    T(frame_of(&progressive)[1] == 0xc2, "a progressive file");
    T(!decode(&plain, IMAGE_REFUSE, &a) &&
          !decode(&progressive, IMAGE_REFUSE, &b) && !off_by(&a, b.pixel),
      "has the pixels of the baseline file");
    data_bytes_release(&plain);
    data_bytes_release(&progressive);
    image_release(&a);
    image_release(&b);
}

static void
inks_become_rgb(J_COLOR_SPACE to, const char *name)
{
    struct kind kind = {4, JCS_CMYK, to, 0, 0, 0};
    struct data_bytes bytes = write_kind(&kind);
    struct image image = {0};
    uint8_t want[H * W * 3];

    for (size_t i = 0; i < (size_t)H * W; i++)
        for (size_t c = 0; c < 3; c++)
            want[i * 3 + c] =
                (uint8_t)lround(smooth[i * 4 + c] * smooth[i * 4 + 3] / 255.);
    T(!decode(&bytes, IMAGE_REFUSE, &image) && off_by(&image, want) <= 4,
      "%s: R = C K / 255", name);
    data_bytes_release(&bytes);
    image_release(&image);
}

static void
limits_hold(void)
{
    struct kind many = {3, JCS_RGB, JCS_YCbCr, 0, 1, 0};
    struct data_bytes bytes = write_kind(&many);
    struct image image = {0};
    uint8_t *frame;

    T(decode(&bytes, IMAGE_ACCEPT, &image) == -1 &&
          strstr(err.msg, "100 scans"),
      "190 scans: %s", err.msg);
    data_bytes_release(&bytes);

    image_jpeg_encode(smooth, W, H, 3, 95, &bytes, &err);
    T(image_codec_decode(&decoder, bytes.data, bytes.len, W * H - 1,
                         IMAGE_REFUSE, NULL, &image, &err) == -1,
      "%s", err.msg);
    T(!image_codec_decode(&decoder, bytes.data, bytes.len, W * H, IMAGE_REFUSE,
                          NULL, &image, &err),
      "one pixel more is allowed");
    frame = frame_of(&bytes);
    memcpy(frame + 5, "\xff\xdc\xff\xdc", 4); // 65500 x 65500
    image_release(&image);
    T(decode(&bytes, IMAGE_ACCEPT, &image) == -1 &&
          strstr(err.msg, "65500x65500") && !image.room,
      "%s", err.msg);
    data_bytes_release(&bytes);
}

static void
damage_is_detected(void)
{
    struct data_bytes bytes = {0}, cut;
    struct image image = {0};
    int accepted = 0, refused = 0;

    paint(3);
    image_jpeg_encode(smooth, W, H, 3, 95, &bytes, &err);
    for (size_t n = 0; n < bytes.len; n++) {
        cut = (struct data_bytes){bytes.data, n, n};
        refused += decode(&cut, IMAGE_REFUSE, &image) == -1;
        accepted += !decode(&cut, IMAGE_ACCEPT, &image);
    }
    T(refused == (int)bytes.len, "a cut anywhere is refused: %s", err.msg);
    T(accepted > 100 && accepted < refused, "%d of %d may be accepted",
      accepted, refused);
    T(decode(&(struct data_bytes){0}, IMAGE_ACCEPT, &image) == -1, "%s",
      err.msg);
    cut = (struct data_bytes){(uint8_t *)smooth, 100, 100};
    T(decode(&cut, IMAGE_ACCEPT, &image) == -1, "%s", err.msg);
    data_bytes_release(&bytes);
    image_release(&image);
}

/* Files with and without a final EOI are read by different code: both must
 * detect the same damage anywhere. */
static void
the_end_is_not_passed(int subsample)
{
    struct kind kind = {3, JCS_RGB, JCS_YCbCr, 0, 0, subsample};
    struct data_bytes bytes = write_kind(&kind), cut = {0};
    struct image a = {0}, b = {0};
    int same = 0, read = 0;

    for (size_t n = 0; n <= bytes.len; n++) {
        int ends, goes_on;

        mem_grow(&cut.data, &cut.room, n + 3, 1);
        memcpy(cut.data, bytes.data, n);
        memcpy(cut.data + n, "\xff\xd9", 3);
        cut.len = n + 2;
        ends = decode(&cut, n % 2 ? IMAGE_ACCEPT : IMAGE_REFUSE, &a);
        cut.len = n + 3;
        goes_on = decode(&cut, n % 2 ? IMAGE_ACCEPT : IMAGE_REFUSE, &b);
        same += ends == goes_on && (ends || !off_by(&a, b.pixel));
        read += !ends;
    }
    T(same == (int)bytes.len + 1 && read > 90 && read < same,
      "a cut with an EOI equals one with an extra byte, %d of %d are read",
      read, same);
    data_bytes_release(&bytes);
    data_bytes_release(&cut);
    image_release(&a);
    image_release(&b);
}

/* A file without tables must not use those of the file before it. */
static void
files_are_independent(void)
{
    struct data_bytes bytes = {0};
    struct image image = {0};

    paint(3);
    image_jpeg_encode(smooth, W, H, 3, 95, &bytes, &err);
    T(!decode(&bytes, IMAGE_REFUSE, &image), "a whole file");
    for (size_t i = 2; i + 4 < bytes.len && bytes.data[i + 1] != 0xda;
         i += 2 + (size_t)(bytes.data[i + 2] << 8 | bytes.data[i + 3]))
        if (bytes.data[i + 1] == 0xdb)
            bytes.data[i + 1] = 0xfe; // its quantisation: now a comment
    T(decode(&bytes, IMAGE_ACCEPT, &image) == -1 &&
          strstr(err.msg, "uantization"),
      "a file without quantisation tables is refused: %s", err.msg);
    data_bytes_release(&bytes);
    image_release(&image);
}

/* For images with shared and with new memory. */
static void
no_row_begins_at_a_multiple_of_32(void)
{
    static const size_t width[] = {32, 8, 500};

    for (size_t i = 0; i < 3; i++) {
        struct image grown = {0};
        int odd = 1;

        for (size_t j = i; j < 3; j++) {
            image_size(&grown, width[j], 4);
            memset(grown.pixel, 0, 3 * 4 * width[j]);
            for (size_t y = 0; y < 4; y++)
                odd &= (uintptr_t)(grown.pixel + 3 * width[j] * y) % 2 == 1;
        }
        T(odd, "rows of %zu pixels and more begin at odd addresses", width[i]);
        image_release(&grown);
    }
}

/* Rows of a 3 x 2 image 1 2 3 / 4 5 6 as each orientation shows them. */
static void
orientations_are_applied(void)
{
    static const struct {
        size_t width;
        const char *rows;
    } want[9] = {{0, ""},       {3, "123456"}, {3, "321654"},
                 {3, "654321"}, {3, "456123"}, {2, "142536"},
                 {2, "415263"}, {2, "635241"}, {2, "362514"}};
    uint8_t pixel[18];
    struct image from = {.pixel = pixel, .width = 3, .height = 2};
    struct image to = {0};

    for (size_t i = 0; i < 18; i++)
        pixel[i] = (uint8_t)('1' + i / 3);
    for (int o = 1; o <= 8; o++) {
        int same = 1;

        image_exif_apply(o, &from, &to);
        for (size_t i = 0; i < 18; i++)
            same &= to.pixel[i] == want[o].rows[i / 3];
        T(same && to.width == want[o].width, "orientation %d", o);
    }
    image_release(&to);
}

static void
orientation_is_applied(void)
{
    struct data_bytes bytes = {0};
    struct image plain = {0}, want = {0}, got = {0};

    paint(3);
    image_jpeg_encode(smooth, W, H, 3, 95, &bytes, &err);
    decode(&bytes, IMAGE_REFUSE, &plain);
    for (int o = 0; o <= 9; o++) {
        struct data_bytes with = with_exif(&bytes, o, o % 2);

        image_exif_apply(o >= 1 && o <= 8 ? o : 1, &plain, &want);
        T(!decode(&with, IMAGE_REFUSE, &got) && got.width == want.width &&
              got.height == want.height && !off_by(&got, want.pixel),
          "EXIF orientation %d", o);
        data_bytes_release(&with);
    }
    data_bytes_release(&bytes);
    image_release(&plain);
    image_release(&want);
    image_release(&got);
}

static const char program[] =
    "import sys, random\n"
    "from PIL import Image\n"
    "random.seed(1)\n"
    "noise = bytes(random.randrange(256) for _ in range(9 * 7 * 4))\n"
    "for i in range(16):\n"
    "    mode = ['RGB', 'L', 'CMYK', 'RGB'][i % 4]\n"
    "    im = Image.frombytes(mode, (9, 7), noise[:63 * len(mode)"
    " if mode != 'L' else 63])\n"
    "    im = im.resize((61, 43), Image.BICUBIC)\n"
    "    im.save('%d.jpg' % i, quality=[95, 75, 30, 100][i // 4],\n"
    "            subsampling=i % 3 if mode != 'L' else -1,\n"
    "            progressive=i % 2 == 1)\n"
    "    im = Image.open('%d.jpg' % i).convert('RGB')\n"
    "    open('%d.rgb' % i, 'wb').write(im.tobytes())\n";

/* PIL's own pixels for files of many kinds, CMYK among them. */
static void
pil_agrees(void)
{
    char folder[256];
    struct image image = {0};

    if (system("/usr/bin/python3 -c 'import PIL' 2>/dev/null")) {
        T_SKIP("the pixels are PIL's", "no python3-pil");
        return;
    }
    child_scratch(folder);
    T(!file_write("make.py", program, sizeof program - 1, &err) &&
          !system("/usr/bin/python3 make.py"),
      "PIL makes its files");
    for (int i = 0; i < 16; i++) {
        struct data_bytes jpeg = {0}, want = {0};
        char name[16];

        snprintf(name, sizeof name, "%d.jpg", i);
        jpeg.data = file_read(name, 1 << 20, &jpeg.len, &err);
        snprintf(name, sizeof name, "%d.rgb", i);
        want.data = file_read(name, 1 << 20, &want.len, &err);
        T(jpeg.data && want.data && !decode(&jpeg, IMAGE_REFUSE, &image) &&
              image.width * image.height * 3 == want.len &&
              !off_by(&image, want.data),
          "PIL's pixels, kind %d", i);
        data_bytes_release(&jpeg);
        data_bytes_release(&want);
    }
    image_release(&image);
    T(!chdir("/") && !file_remove(folder, &err), "its folder is removed");
}

int
main(void)
{
    pil_agrees();
    pixels_come_back();
    form_is_as_promised();
    progressive_equals_baseline();
    inks_become_rgb(JCS_CMYK, "CMYK");
    inks_become_rgb(JCS_YCCK, "YCCK");
    limits_hold();
    damage_is_detected();
    the_end_is_not_passed(0);
    the_end_is_not_passed(1);
    files_are_independent();
    no_row_begins_at_a_multiple_of_32();
    orientations_are_applied();
    orientation_is_applied();
    image_jpeg_free(decoder);
    return t_done();
}
