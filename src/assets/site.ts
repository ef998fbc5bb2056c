import './copy.ts';
import './filters.ts';
import './routes.ts';
import './search.ts';
