import './copy.ts';
import './routes.ts';
import './search.ts';
