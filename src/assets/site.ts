import './ask.ts';
import './copy.ts';
import './filters.ts';
import './keys.ts';
import './languages.ts';
import './routes.ts';
import './search.ts';
