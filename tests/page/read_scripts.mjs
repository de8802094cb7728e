// Reads scripts as node would, without running them, and says where one cannot be read.
import { readFileSync } from "node:fs";
import * as modules from "node:module";
import { SourceTextModule } from "node:vm";

const readsTypes = typeof modules.stripTypeScriptTypes === "function";
const files = process.argv.slice(2).filter((file) => readsTypes || !file.endsWith(".ts"));

for (const file of files) {
  const text = readFileSync(file, "utf-8");
  try {
    const script = file.endsWith(".ts") ? modules.stripTypeScriptTypes(text, { mode: "transform" }) : text;
    new SourceTextModule(script, { identifier: file });
  } catch (error) {
    console.error(`${file}: ${error.stack}`);
    process.exitCode = 1;
  }
}
if (!process.exitCode) console.log(`${files.length} scripts can be read by node ${process.version}.`);
if (!readsTypes) console.log("TypeScript is not read: node 22.13 or newer can.");
