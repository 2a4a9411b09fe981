// onnxruntime.mjs RUNTIME MODEL RAW.npy FEATURES.npy: runs an ONNX model with
// onnxruntime-web from the folder RUNTIME on the images of RAW.npy (pixels / 255,
// [n, height, width, 3] as rows).  Prints the largest difference from FEATURES.npy
// relative to its largest number.
import {readFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';

// Rows of floats: {n, d, data}.
function npy(path) {
  const bytes = readFileSync(path);
  const start = 10 + bytes.readUInt16LE(8);
  const head = bytes.toString('latin1', 10, start);
  const [n, d] = /\((\d+), (\d+)\)/.exec(head).slice(1).map(Number);
  if (!head.includes("'<f4'")) throw new Error(`${path} is not of f4`);
  const data = new Float32Array(n * d);
  for (let i = 0; i < n * d; i++) data[i] = bytes.readFloatLE(start + 4 * i);
  return {n, d, data};
}

// Rows of pixels with separate channels: [n, 3, size, size].
function planes({n, d, data}) {
  const area = d / 3, apart = new Float32Array(n * d);
  for (let i = 0; i < n; i++)
    for (let p = 0; p < area; p++)
      for (let c = 0; c < 3; c++)
        apart[i * d + c * area + p] = data[i * d + p * 3 + c];
  return apart;
}

const [runtime, model, raw, features] = process.argv.slice(2);
const ort = await import(
    pathToFileURL(`${runtime}/node_modules/onnxruntime-web/dist/ort.node.min.mjs`));
ort.env.wasm.numThreads = 1;
const session = await ort.InferenceSession.create(readFileSync(model));
const images = npy(raw), ours = npy(features);
const size = Math.sqrt(images.d / 3);
const input = new ort.Tensor('float32', planes(images),
                             [images.n, 3, size, size]);
const output = await session.run({[session.inputNames[0]]: input});
const theirs = output[session.outputNames[0]].data;
if (theirs.length !== ours.data.length)
  throw new Error(`${theirs.length} figures for ${ours.data.length}`);
let off = 0, largest = 0;
for (let i = 0; i < theirs.length; i++) {
  off = Math.max(off, Math.abs(theirs[i] - ours.data[i]));
  largest = Math.max(largest, Math.abs(ours.data[i]));
}
if (!(largest > 0)) throw new Error('the features are zero');
console.log(off / largest);
