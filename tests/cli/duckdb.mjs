// duckdb.mjs FOLDER TABLE.parquet TABLE.csv: joins the two tables by id with DuckDB (its
// package is in FOLDER) and prints how many rows agree in all common columns.
import {pathToFileURL} from 'node:url';

const [folder, parquet, csv] = process.argv.slice(2);
const {DuckDBInstance} = await import(
    pathToFileURL(`${folder}/node_modules/@duckdb/node-api/lib/index.js`));
const db = await (await DuckDBInstance.create(':memory:')).connect();
const names = (await db.runAndReadAll(`describe select columns('x.*') from '${csv}'`))
                  .getRowObjectsJson().map(row => `${row.column_name}::float`);
const equal = await db.runAndReadAll(
    `select count(*) n from '${parquet}' p join '${csv}' c using (id) where
     p.label = c.label and p.class = c.class::varchar and p.x = [${names}]`);
console.log(equal.getRowObjectsJson()[0].n);
