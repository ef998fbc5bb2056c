import { createServer } from 'node:net';

/**
 * A host in a process of its own that answers with a body in chunks of one byte, many in each read. Takes the length of
 * the body as argument and sends its port to its parent. Ends with its parent.
 */
const length = Number(process.argv[2]);
const CHUNKS = Buffer.from('1\r\nx\r\n'.repeat(10_000));

const server = createServer((socket) => {
  socket.on('error', () => socket.destroy());
  socket.once('data', () => {
    socket.write('HTTP/1.1 402 Payment Required\r\nTransfer-Encoding: chunked\r\n\r\n');
    let left = length;
    const pump = () => {
      for (; left > 0; left -= 10_000) if (!socket.write(CHUNKS)) break;
      if (left <= 0) socket.end('0\r\n\r\n');
      else left -= 10_000;
    };
    socket.on('drain', pump);
    pump();
  });
});
server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
process.once('disconnect', () => process.exit(0));
