// Loaded before an entry point (`node --import`): an old Node cannot read TypeScript, and crashes in the database's
// binary without a word. Plain JavaScript, because an old Node has to be able to read at least this.
const REQUIRED = [22, 19];

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < REQUIRED[0] || (major === REQUIRED[0] && minor < REQUIRED[1])) {
  console.error(
    `error: This needs Node ${REQUIRED.join('.')} or newer, and this is Node ${process.versions.node}. ` +
      'Run it through npm (npm start, npm run catalogue), which brings its own, or install a newer Node.',
  );
  process.exit(1);
}

// TypeScript is stripped and compiled once, not at every start: that is a third of what a short command takes. Child
// processes share it. Where the folder cannot be written, Node goes on without.
const { enableCompileCache } = await import('node:module');
const { fileURLToPath } = await import('node:url');
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url));
enableCompileCache(process.env.NODE_COMPILE_CACHE);
