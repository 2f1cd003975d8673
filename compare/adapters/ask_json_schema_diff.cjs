// json-schema-diff: what a schema newly accepts and no longer accepts. Same lines in and out as answering.py.
const readline = require("node:readline");
const { createRequire } = require("node:module");
const { diffSchemas } = createRequire(process.argv[2] + "/")("json-schema-diff");

const WORST_FIRST = ["breaking", "compatible", "none"];

async function answer(side, oldText, newText) {
  const [before, after] = [oldText, newText].map(
    (text) => new Map(JSON.parse(text).tools.map((tool) => [tool.name, tool])),
  );
  if (before.size !== after.size || [...before.keys()].some((name) => !after.has(name))) return null;
  const found = ["none"];
  for (const [name, tool] of before) {
    for (const key of ["inputSchema", "outputSchema"]) {
      if (side !== "tool" && key !== `${side}Schema`) continue;
      const [sourceSchema, destinationSchema] = [tool[key], after.get(name)[key]];
      if (sourceSchema === undefined || destinationSchema === undefined) continue;
      const { additionsFound, removalsFound } = await diffSchemas({ sourceSchema, destinationSchema });
      const breaks = key === "inputSchema" ? removalsFound : additionsFound;
      found.push(breaks ? "breaking" : additionsFound || removalsFound ? "compatible" : "none");
    }
  }
  return [WORST_FIRST.find((verdict) => found.includes(verdict))];
}

(async () => {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const question = JSON.parse(line);
    const started = process.cpuUsage();
    const reply = { id: question.id };
    try {
      const verdicts = await answer(question.side, question.old, question.new);
      if (verdicts === null) reply.not_tried = true;
      else reply.verdicts = verdicts;
    } catch (error) {
      reply.error = String(error).slice(0, 200);
    }
    const spent = process.cpuUsage(started);
    reply.seconds = (spent.user + spent.system) / 1e6;
    process.stdout.write(JSON.stringify(reply) + "\n");
  }
})();
