import './copy.ts';
import './languages.ts';
import './routes.ts';
import './search.ts';
