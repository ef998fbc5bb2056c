import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../src/config.ts';
import { ServiceError } from '../src/errors.ts';

describe('settings', () => {
  it('have defaults that serve on loopback', () => {
    expect(readConfig({})).toMatchObject({
      baseUrl: 'http://localhost:4321',
      host: '127.0.0.1',
      port: 4321,
      rateLimit: 600,
    });
    expect(readConfig({ PORT: '8080', BASE_URL: '' }).baseUrl).toBe('http://localhost:8080');
    expect(readConfig({ BASE_URL: 'https://apis.example/' }).baseUrl).toBe('https://apis.example');
  });

  it.each([
    ['PORT', '99999'],
    ['PORT', 'http'],
    ['BASE_URL', 'apis.example'],
    ['BASE_URL', 'https://apis.example/?x=1'],
    ['BASE_URL', 'https://apis.example/catalogue'],
    ['PROBE', 'yes'],
    ['RATE_LIMIT', '-1'],
    ['ALLOW_PRIVATE_NETWORKS', 'true'],
    ['LOG_LEVEL', 'loud'],
  ])('stop the start when %s is %s, naming it and what it takes', (name, value) => {
    const read = () => readConfig({ [name]: value });
    expect(read).toThrow(ServiceError);
    expect(read).toThrow(`The setting ${name} has the value "${value}"`);
  });

  it('ask for BASE_URL where others can reach the service', () => {
    expect(() => readConfig({ HOST: '0.0.0.0' })).toThrow('BASE_URL is not set');
    expect(readConfig({ HOST: '0.0.0.0', BASE_URL: 'https://apis.example' }).baseUrl).toBe('https://apis.example');
  });

  it('cannot be changed once read', () => {
    expect(() => Object.assign(readConfig({}), { port: 1 })).toThrow(TypeError);
  });

  it('are all in .env.example with their defaults', () => {
    const example = readFileSync(join(import.meta.dirname, '../.env.example'), 'utf8');
    const given = Object.fromEntries(
      [...example.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
    );
    expect(readConfig(given)).toEqual(readConfig({}));
  });
});
