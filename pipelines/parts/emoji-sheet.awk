# A gnuplot script that draws queries with their best answers.  Operands: the
# table of captions, a line 'file<tab>caption' for each drawing, in the order of
# rows; the output of foil-eval retrieve --answers for the same rows.
# `pixels` is the file of their pixels, rows of 64 x 64 x 3 f4 after 128 bytes.

function picture(row, x, y) {
    return sprintf("\"%s\" binary skip=%d array=(64,64) format=\"%%float32\" " \
        "flip=y origin=(%d,%d) using (255*$1):(255*$2):(255*$3) " \
        "with rgbimage notitle", pixels, 128 + row * 64 * 64 * 3 * 4, x, y)
}

# words for a label, without characters that are commands of gnuplot
function words(row, most,    text) {
    text = caption[row]
    gsub(/["\\_^{}@&]/, " ", text)
    return length(text) > most ? substr(text, 1, most - 2) ".." : text
}

function label(text, x, y, colour) {
    printf "set label \"%s\" at %d,%d textcolor rgb \"%s\" noenhanced\n", text,
        x, y, colour
}

BEGIN { FS = "\t"; shown = 8 }

FNR == NR { caption[n++] = $2; next }

$1 == "image_to_text" { for (i = 0; i < 5; i++) texts[$2, i] = $(3 + i) }
$1 == "text_to_image" { for (i = 0; i < 5; i++) images[$2, i] = $(3 + i) }

# queries at equal distances; right answers are green
END {
    print "# gnuplot sheet.gp draws sheet.png from " pixels "."
    print "set terminal pngcairo size 1100,1440 font \"sans,10\""
    print "set output \"sheet.png\""
    print "set title \"New drawings: the words that they find, and the " \
        "drawings that their words find (green: right)\""
    print "unset border\nunset tics\nset size ratio -1"
    print "set xrange [0:1100]\nset yrange [0:1400]"
    for (i = 0; i < 2 * shown; i++) {
        row = int((i + .5) * n / (2 * shown))
        y = 1400 - 85 * (i + 1)
        if (i < shown) {
            plots[++count] = picture(row, 10, y)
            for (j = 0; j < 5; j++)
                label(words(texts[row, j], 120), 100, y + 58 - 14 * j,
                    texts[row, j] == row ? "#008000" : "#404040")
        } else {
            label(words(row, 70), 10, y + 30, "#000000")
            for (j = 0; j < 5; j++) {
                x = 560 + 90 * j
                plots[++count] = picture(images[row, j], x, y)
                if (images[row, j] == row)
                    printf "set object rectangle from %d,%d to %d,%d " \
                        "fillstyle empty border rgb \"#008000\" " \
                        "linewidth 3\n", x - 3, y - 3, x + 67, y + 67
            }
        }
    }
    for (i = 1; i <= count; i++)
        printf "%s%s%s\n", (i > 1 ? "    " : "plot "), plots[i],
            (i < count ? ", \\" : "")
}
