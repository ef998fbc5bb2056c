// Loaded before an entry point (`node --import`), because an old Node cannot read TypeScript, and crashes in the binary of
// the database without a message. This file is plain JavaScript so that an old Node can read it.
const REQUIRED = [22, 19];

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < REQUIRED[0] || (major === REQUIRED[0] && minor < REQUIRED[1])) {
  console.error(
    `error: This needs Node ${REQUIRED.join('.')} or newer, and this is Node ${process.versions.node}. ` +
      'Run it through npm (npm start, npm run catalogue), which brings its own, or install a newer Node.',
  );
  process.exit(1);
}

// Compiled code is cached on disk, because compiling takes a third of the time of a short command. Child processes share
// the cache. Node works without it if the folder cannot be written.
const { enableCompileCache } = await import('node:module');
const { fileURLToPath } = await import('node:url');
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url));
enableCompileCache(process.env.NODE_COMPILE_CACHE);
