import { z } from 'zod';
import { buildRoute, type ProviderPlan } from './route.ts';

/** Mean radius of the Earth in kilometres (IUGG). */
const EARTH_KM = 6371.0088;
const place = z
  .string()
  .regex(/^-?\d{1,2}(\.\d+)?,-?\d{1,3}(\.\d+)?$/)
  .describe('Latitude and longitude in degrees, such as 52.52,13.405');

/** A provider with the same price on Base and on Solana. */
export const MAP_MATH: ProviderPlan = {
  key: 'map-math',
  title: 'Map Math',
  summary: 'Distances and bearings between two places, paid for on Base or on Solana.',
  version: 2,
  networks: ['base', 'solana'],
  routes: [
    buildRoute({
      method: 'GET',
      path: '/v1/distance',
      summary: 'Gives the distance between two places as the crow flies.',
      price: 2_000,
      input: z.object({ from: place, to: place }),
      output: z.object({ kilometres: z.number(), bearing: z.number() }),
      example: { from: '52.52,13.405', to: '48.8566,2.3522' },
      work({ from, to }) {
        const [[lat1, lon1], [lat2, lon2]] = [readPlace(from), readPlace(to)];
        const [dLat, dLon] = [lat2 - lat1, lon2 - lon1];
        const half = Math.sin(dLat / 2) ** 2 + Math.cos(lat1) * Math.cos(lat2) * Math.sin(dLon / 2) ** 2;
        const bearing = Math.atan2(
          Math.sin(dLon) * Math.cos(lat2),
          Math.cos(lat1) * Math.sin(lat2) - Math.sin(lat1) * Math.cos(lat2) * Math.cos(dLon),
        );
        return {
          kilometres: Number((2 * EARTH_KM * Math.asin(Math.sqrt(half))).toFixed(3)),
          bearing: Number(((((bearing * 180) / Math.PI) % 360) + 360).toFixed(1)) % 360,
        };
      },
    }),
  ],
};

function readPlace(text: string): [number, number] {
  const [lat = 0, lon = 0] = text.split(',').map((degrees) => (Number(degrees) * Math.PI) / 180);
  return [lat, lon];
}
