import { docsSchema } from '@astrojs/starlight/schema';
import { defineCollection } from 'astro:content';
import { customersBook } from './customers-book.ts';

export const collections = { docs: defineCollection({ loader: customersBook, schema: docsSchema() }) };
