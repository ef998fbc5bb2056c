/** The drawing of `src/assets/favicon.svg`, which a test holds it to: hosts of MCP are handed the bytes, not an address. */
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><title>A receipt with a tick</title>' +
  '<path d="M4 2h24v28l-4-3-4 3-4-3-4 3-4-3-4 3z" fill="#0f5c4c"/>' +
  '<path d="M9 9h14M9 14h8" stroke="#fff" stroke-width="2.4" stroke-linecap="round" opacity=".65"/>' +
  '<path d="m10 20.5 3.6 3.4L22.5 15" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"' +
  ' stroke-linejoin="round"/></svg>';

/** The same, 48 pixels wide, for hosts that show no SVG; Base64. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAADAAAAAwCAYAAABXAvmHAAACo0lEQVR4nO2XP2gTYRjG32KgUNEE6h9QUlGQ4lBSKIKITiIOplUcKrTRZiq4ZR' +
  'FsOxTBRkGQdtGlQ9RW1EltHRycqsVFsFbRLooNDrYVErCFQiQ+T0o06d2pyb0fl8L9hnzvd/dx9/zu7vtyVycbHF/AaxwFgrFoHk3NkB2btM1q' +
  'u5H4Asr4Al7jC3iNL1Ckob5ewo07UOmT/r4gK6urqKyoCDD8tVhvoTVBemlBrj9+YCuhItC8OywXT51FZQ4KzH1NoypHRYBXfrCzRxq3bEVPn/' +
  'TSIgTum7sDhBLhbYbmAB4hu/BETcArfAGvURPoOHhYmneFUVXG9Nx7efnxHarqUBHg5B3sPI+qOi4/vFOYqKWcbDskF050yPziN+kbH5XsyjK2' +
  'WqlJga6jx+RmbwLVGi8+zEo02Y/KiooAOR5pk9a9+1FVxjQen9JHaH34IqFz7fi1oiaggVP4p69fSffwECorNSPgFH52/rNEh/rMzgG3VBueeC' +
  '7gJjzxVMBteKIqEGzYXAhF7k09/2sAjnMbnqgKTF0ZkZY9+1AhyJdPhbXbLohWeKImcORAi0z2J1H9gf+i3SPJgkwRzfBETaBp+055e2MUVTnZ' +
  '5R8SvTpQkNAOT9QEiFNAStx69kQunelCrxw34YmqAHGSsMNteKIuQP5HQiM8MSJA+DpMCS6t69EKT4wJEC6pXJlKJTTDE6MChBLjiQFpwjcD3+' +
  'v5VqkVnhgXMI0vQDB4Bo1gRwTNP9Ec71qgTupuS2DT2pqZ+zmcl3wPKke0x1ctgANn8ZPI3J1ISQn4do3jUvFEQXR/Y2p8VQLYOSOBQDyTevQG' +
  'myyE4qdbJZdLwTSCLg9mbHzFAqFYe4q3FAfPoOsIThLiLUcpJsdnxibiYoOjwEbBF/CaX436BE/u6rU2AAAAAElFTkSuQmCC';

/** An icon as the protocol names it (MCP, "Icons"). */
interface McpIcon {
  src: string;
  mimeType: string;
  sizes: string[];
}

/** Gives the icons of the MCP server, as data: a host shows them without asking this service, or any other, for more. */
export function getMcpIcons(): McpIcon[] {
  const svg = Buffer.from(SVG).toString('base64');
  return [
    { src: `data:image/svg+xml;base64,${svg}`, mimeType: 'image/svg+xml', sizes: ['any'] },
    { src: `data:image/png;base64,${PNG}`, mimeType: 'image/png', sizes: ['48x48'] },
  ];
}
