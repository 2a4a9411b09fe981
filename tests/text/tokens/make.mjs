// Makes vocab.txt and cases.tsv: strings in many scripts with the tokens that
// Hugging Face's tokenizer gives them, for tests/text/test_vocabulary.c.
//
//     npm install @huggingface/tokenizers          (0.2.0, in a folder of its own)
//     printf 'x.jpg\n' >list, foil data index, vocabulary --size 1400 of lines.txt
//     node make.mjs FOLDER_OF_NODE_MODULES
//
// merges.txt is from `foil data vocabulary`: it is input here, as lines.txt is.
// A string has \n, \t and \\ for what would end a cell.  WordPiece's column is -
// where the peer errs: it takes Chinese characters beyond U+FFFF for letters.
import fs from "fs";
import path from "path";
import { pathToFileURL } from "url";

const home = path.dirname(new URL(import.meta.url).pathname);
const peer = path.join(
  path.resolve(process.argv[2]),
  "node_modules/@huggingface/tokenizers/dist/tokenizers.mjs",
);
const { Tokenizer } = await import(pathToFileURL(peer));
const read = (name) => fs.readFileSync(path.join(home, name), "utf8");
const lines = read("lines.txt").trimEnd().split("\n");

// Numbers that are the same each time (Park and Miller 1988).
let state = 20;
const below = (n) => (state = (state * 48271) % 2147483647) % n;
const pick = (list) => list[below(list.length)];

// ------------------------------------------------------------------ strings

const strings = [...lines];
for (const line of lines) {
  const words = line.split(" ");
  for (let i = 0; i < 8; i++) {
    const at = below(words.length);
    strings.push(words.slice(at, at + 1 + below(4)).join(pick([" ", "  ", "\t", "\n", "\u00a0", "\u2003", "\u3000"])));
  }
  strings.push(line.slice(0, 30).toUpperCase(), line.slice(0, 30).normalize("NFD"));
  strings.push(line.slice(0, 30).toLowerCase());
}
for (let i = 0; i < 400; i++) {
  const a = pick(lines).split(" "), b = pick(lines).split(" ");
  strings.push(pick(a) + pick(["", "'", "'s", "'ll", "-", ".", "2", "\u0301"]) + pick(b));
}
// Characters that were assigned by Unicode 14, of one or two blocks; none that
// JavaScript and Unicode hold for white space or not in different ways.
const unlike = new Set([0x85, 0xfeff, 0x1c, 0x1d, 0x1e, 0x1f, 0xb, 0xc, 0xfffd]);
const good = (c) =>
  !unlike.has(c) && c > 31 && /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\p{Cf}]$/u.test(String.fromCodePoint(c));
const blocks = [
  [0x20, 0x17f], [0x180, 0x24f], [0x250, 0x36f], [0x370, 0x3ff], [0x400, 0x4ff], [0x531, 0x58a], [0x591, 0x5f4],
  [0x600, 0x6ff], [0x900, 0x97f], [0x980, 0x9fe], [0xe01, 0xe5b], [0xf00, 0xfda], [0x1000, 0x109f], [0x10a0, 0x10ff],
  [0x1100, 0x11ff], [0x13a0, 0x13fd], [0x1780, 0x17f9], [0x1e00, 0x1eff], [0x1f00, 0x1ffe], [0x2000, 0x206f],
  [0x2070, 0x209c], [0x2100, 0x218b], [0x2190, 0x23ff], [0x2460, 0x24ff], [0x2600, 0x27bf], [0x3000, 0x30ff],
  [0x3200, 0x32ff], [0x4e00, 0x4eff], [0xac00, 0xacff], [0xfb00, 0xfb06], [0xfb1d, 0xfb4f], [0xfe30, 0xfe6b],
  [0xff01, 0xffee], [0x10400, 0x1044f], [0x1d400, 0x1d4ff], [0x1f300, 0x1f3ff], [0x1f600, 0x1f64f], [0x20000, 0x2003f],
];
const spice = [..." 'stΣΑİ\u0301\u0323\u00ad\u200d."];
for (let i = 0; i < 1000; i++) {
  const ranges = [pick(blocks), pick(blocks)];
  let s = "";
  for (let n = 1 + below(9); n; n--) {
    const [low, high] = pick(ranges);
    const c = low + below(high - low + 1);
    s += below(3) === 0 ? pick(spice) : good(c) ? String.fromCodePoint(c) : "";
  }
  strings.push(s);
}

// ------------------------------------------------------------- vocabularies

const merges = read("merges.txt").trimEnd().split("\n").slice(1);
const bytes = [], chars = [];
for (let b = 0; b < 256; b++) if ((b > 32 && b < 127) || (b > 160 && b !== 173)) bytes.push(b), chars.push(String.fromCodePoint(b));
for (let b = 0, n = 0; b < 256; b++) if (!bytes.includes(b)) bytes.push(b), chars.push(String.fromCodePoint(256 + n++));
const bpe = {};
[...chars, ...chars.map((c) => c + "</w>"), ...merges.map((m) => m.replace(" ", ""))].forEach((t, i) => (bpe[t] = i));

// WordPiece: what occurs often in the lines, and every third character of them.
const bare = lines.map((l) => l.toLowerCase().normalize("NFD").replace(/\p{Mn}/gu, ""));
const tokens = new Set(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]);
const found = [...new Set(bare.join(""))].filter((c) => /\S/.test(c));
found.forEach((c, i) => i % 7 && tokens.add(c).add("##" + c));
for (const w of bare.join(" ").match(/[\p{L}\p{N}]+/gu)) {
  if (below(2)) tokens.add(w);
  if (w.length > 4) tokens.add(w.slice(0, 3)).add("##" + w.slice(-2));
}
const vocab = [...tokens].filter((t) => t.isWellFormed());
fs.writeFileSync(path.join(home, "vocab.txt"), vocab.join("\n") + "\n");

// -------------------------------------------------------------------- peer

const common = { version: "1.0", truncation: null, padding: null, added_tokens: [], post_processor: null };
const pattern = "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+";
const clip = new Tokenizer(
  {
    ...common,
    normalizer: {
      type: "Sequence",
      normalizers: [{ type: "NFC" }, { type: "Replace", pattern: { Regex: "\\s+" }, content: " " }, { type: "Lowercase" }],
    },
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        { type: "Split", pattern: { Regex: pattern }, behavior: "Removed", invert: true },
        { type: "ByteLevel", add_prefix_space: false, trim_offsets: true },
      ],
    },
    decoder: { type: "ByteLevel" },
    model: {
      type: "BPE", dropout: null, unk_token: "a", continuing_subword_prefix: "", end_of_word_suffix: "</w>",
      fuse_unk: false, vocab: bpe, merges,
    },
  },
  { tokenizer_class: "CLIPTokenizer" },
);
const bert = new Tokenizer(
  {
    ...common,
    normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true },
    pre_tokenizer: { type: "BertPreTokenizer" },
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##", max_input_chars_per_word: 100,
      vocab: Object.fromEntries(vocab.map((t, i) => [t, i])),
    },
  },
  { tokenizer_class: "BertTokenizer", unk_token: "[UNK]" },
);
const ids = (tokenizer, s) => tokenizer.encode(s, { add_special_tokens: false }).ids.join(" ");
const cell = (s) => s.replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/\t/g, "\\t");
const rows = [...new Set(strings)].filter((s) => s.trim() && s.isWellFormed()).map(
  (s) => `${cell(s)}\t${ids(clip, s)}\t${/[\u{20000}-\u{2fa1f}]/u.test(s) ? "-" : ids(bert, s)}`,
);
fs.writeFileSync(path.join(home, "cases.tsv"), rows.join("\n") + "\n");
console.log(rows.length, "strings,", vocab.length, "tokens of WordPiece");
