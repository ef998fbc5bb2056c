import { describe, expect, it } from 'vitest';
import { getDomain, getRegisteredLabel, speaksFor } from '../../src/evidence/domains.ts';

describe('a document', () => {
  it.each([
    ['https://example.com/openapi.json', 'https://example.com'],
    ['https://example.com', 'http://example.com:8402'],
    ['https://EXAMPLE.com.', 'https://example.com'],
    ['https://example.com', 'https://api.example.com'],
    ['https://example.com', 'https://v1.api.example.com'],
    ['https://example.com', 'https://www.example.com'],
    ['https://www.example.com', 'https://example.com'],
    ['https://www.example.com', 'https://api.example.com'],
    ['https://api.example.com', 'https://eu.api.example.com'],
    ['https://example.co.uk', 'https://api.example.co.uk'],
    ['https://tides.vercel.app', 'https://tides.vercel.app:8443'],
    ['https://tides.koyeb.app', 'https://tides.koyeb.app'],
    ['http://127.0.0.1:4021', 'http://127.0.0.1:8402'],
    ['http://[::1]:4021', 'http://[::1]'],
    ['http://localhost:4021', 'http://localhost'],
  ])('at %s speaks for %s', (document, base) => {
    expect(speaksFor(document, base)).toBe(true);
  });

  it.each([
    ['https://api.example.com', 'https://example.com'],
    ['https://api.example.com', 'https://pay.example.com'],
    ['https://api.example.com', 'https://www.example.com'],
    ['https://www.api.example.com', 'https://example.com'],
    ['https://example.com', 'https://badexample.com'],
    ['https://example.com', 'https://example.com.evil.dev'],
    ['https://example.com', 'https://example.org'],
    ['https://tides.vercel.app', 'https://other.vercel.app'],
    ['https://tides.vercel.app', 'https://api.tides.vercel.app'],
    ['https://www.tides.vercel.app', 'https://tides.vercel.app'],
    ['https://vercel.app', 'https://tides.vercel.app'],
    ['https://www.vercel.app', 'https://tides.vercel.app'],
    ['https://anna.workers.dev', 'https://tides.anna.workers.dev'],
    ['https://tides.koyeb.app', 'https://other.koyeb.app'],
    ['https://koyeb.app', 'https://tides.koyeb.app'],
    ['https://www.koyeb.app', 'https://koyeb.app'],
    ['https://zuplo.dev', 'https://tides.d2.zuplo.dev'],
    ['https://d2.zuplo.dev', 'https://tides.d2.zuplo.dev'],
    ['https://amazonaws.com', 'https://a1b2c3.execute-api.us-east-1.amazonaws.com'],
    ['https://co.uk', 'https://example.co.uk'],
    ['https://www.co.uk', 'https://example.co.uk'],
    ['https://com', 'https://example.com'],
    ['https://github.io', 'https://tides.github.io'],
    ['http://127.0.0.1', 'http://10.0.0.1'],
    ['http://0.0.1', 'http://127.0.0.1'],
    ['http://[::1]', 'http://[::2]'],
    ['http://localhost', 'http://api.localhost'],
  ])('at %s does not speak for %s', (document, base) => {
    expect(speaksFor(document, base)).toBe(false);
  });
});

it.each([
  ['api.tides.co.uk', 'tides.co.uk', 'tides'],
  ['tides.vercel.app', 'tides.vercel.app', ''],
  ['api.anna.workers.dev', 'anna.workers.dev', ''],
  ['tides.koyeb.app', 'tides.koyeb.app', ''],
  ['tides.d2.zuplo.dev', 'tides.d2.zuplo.dev', ''],
  ['anna--tides.modal.run', 'anna--tides.modal.run', ''],
  ['tides.apify.actor', 'tides.apify.actor', ''],
  ['203.0.113.7', '203.0.113.7', ''],
  ['localhost', 'localhost', ''],
])('%s belongs to %s, and its registered label is %j', (host, domain, label) => {
  expect([getDomain(`https://${host}:8402`), getRegisteredLabel(`https://${host}:8402`)]).toEqual([domain, label]);
});
