// Shoot the products of the shop with the client as it is after a step: `node shop.ts 1`.

const { Client } = await import(`./step_${process.argv[2]}.ts`);
process.exitCode = await new Client().run();
