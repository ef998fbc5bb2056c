import { describe, expect, it } from 'vitest';
import { buildCodeBlock, buildCodeSpan, escapeMarkdown, quoteMarkdown } from '../../src/views/markdown.ts';

describe('escaping for Markdown', () => {
  it.each([
    ['# Heading', '\\# Heading'],
    ['- item', '\\- item'],
    ['+ item', '\\+ item'],
    ['1. item', '1\\. item'],
    ['12) item', '12\\) item'],
    ['===', '\\==='],
    ['> quote', '\\> quote'],
    ['[a](https://x.example)', '\\[a\\](https\\://x.example)'],
    ['![a](x)', '!\\[a\\](x)'],
    ['<script>', '\\<script\\>'],
    ['**b** _i_ `c` ~~s~~ |t| $m$', '\\*\\*b\\*\\* \\_i\\_ \\`c\\` \\~\\~s\\~\\~ \\|t\\| \\$m\\$'],
    ['&lt;', '\\&lt;'],
    ['www.x.example and WWW.x', 'www\\.x.example and WWW\\.x'],
    ['me@x.example', 'me\\@x.example'],
    ['back\\slash', 'back\\\\slash'],
    ['two\n\nlines', 'two lines'],
    ['plain text, 1.5 USDC (a-b)', 'plain text, 1.5 USDC (a-b)'],
  ])('writes %j as %j', (text, escaped) => expect(escapeMarkdown(text)).toBe(escaped));

  it('keeps every line of a quotation inside it', () => {
    expect(quoteMarkdown('one\r\n\n# two\u2028- three')).toBe('> one\n>\n> \\# two\n> \\- three');
  });

  it('lets nothing inside close a code span or a code block', () => {
    expect(buildCodeSpan('a`b``c')).toBe('```a`b``c```');
    expect(buildCodeSpan('`a`')).toBe('`` `a` ``');
    expect(buildCodeSpan('a\nb')).toBe('`a b`');
    expect(buildCodeBlock('sh', 'x\n```\n````')).toBe('`````sh\nx\n```\n````\n`````');
  });
});
