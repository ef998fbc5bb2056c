import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isInOtherLanguage } from '../../src/search/language.ts';
import { skipWithout } from '../skipped.ts';
import { readRequests, readTasks, readUnanswered } from './labelled.ts';

describe('a request', () => {
  it.each([
    '天気予報を知りたい',
    'курс биткоина сегодня',
    'API для погоды в Москве',
    'Wie wird das Wetter morgen in München',
    'quel temps fera-t-il demain à Lyon',
    '¿qué tiempo hará mañana en Málaga?',
    'necesito convertir un archivo pdf a texto',
    'qual é o preço do bitcoin hoje',
    'che tempo farà domani a Milano',
    'wat is het weer morgen in Utrecht',
    'jaka będzie jutro pogoda w Krakowie',
    "yarın Ankara'da hava nasıl olacak",
    'saya butuh ringkasan artikel ini',
    'wetter berlin',
    'precio de bitcoin',
    'traducir texto',
    'aktienkurs Apple',
    'notizie oggi',
    'vuelos baratos',
    'hava durumu',
    'thời tiết ngày mai ở Hà Nội',
  ])('is in another language: %s', (text) => {
    expect(isInOtherLanguage(text)).toBe(true);
  });

  it.each([
    'weather in 東京',
    'what is the weather in Málaga and in Kraków',
    'ethereum rpc node',
    'el salvador map',
    "don't translate",
    'stock price',
    'translate "wie wird das Wetter morgen in München" to English',
    'GET https://api.example.com/v1/wetter/morgen api.example.com/vorhersage',
    'httpay.xyz',
    '0.01',
    '',
  ])('is not: %s', (text) => {
    expect(isInOtherLanguage(text)).toBe(false);
  });

  it('of our own is not', () => {
    const requests = [...readRequests(), ...readTasks(), ...readUnanswered()].map(({ q }) => q);
    expect(requests.filter(isInOtherLanguage)).toEqual([]);
  });

  it.each(['requests', 'harmless'])('of the sample (%s) is not', (name) => {
    const file = resolve(import.meta.dirname, `../data/finding/${name}.json`);
    const requests = JSON.parse(readFileSync(file, 'utf8')).map(({ request }: { request: string }) => request);
    expect(requests.length).toBeGreaterThanOrEqual(200);
    expect(requests.filter(isInOtherLanguage)).toEqual([]);
  });

  it.for(['toolbench', 'toolalpaca'])('of %s is not', (folder, context) => {
    skipWithout('corpus', context);
    const file = resolve(import.meta.dirname, '../../../shared/corpus/requests', folder, 'requests.jsonl');
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    const requests = lines.map((line) => String(JSON.parse(line).query));
    expect(requests.length).toBeGreaterThan(200);
    expect(requests.filter(isInOtherLanguage)).toEqual([]);
  });
});
