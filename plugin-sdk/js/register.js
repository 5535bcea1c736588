// Lets Node.js resolve the imports that the host gives a component: `node --import phasm-sdk/register`.
import { register } from 'node:module';

register('./hooks.js', import.meta.url);
