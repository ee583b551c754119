// Runs tests in Node, and prints what became of each: `ok NAME`, or `failed NAME WHY`.
import * as module from "../../../Sources/Clients/JavaScript/app-check.js";
import { run, scene } from "./tests/scene.js";

const [settings, ...only] = process.argv.slice(2);
Object.assign(scene, JSON.parse(settings), { module });
for (const file of ["tokens", "replies", "fetching", "providers", "serving"]) {
  if (!only.some(name => name.startsWith(`${file}.`))) continue;
  const found = await run(file, await import(`./tests/${file}.js`), only);
  for (const [name, end] of Object.entries(found)) console.log(`${end === "ok" ? "ok" : "failed"} ${name} ${JSON.stringify(end)}`);
}
