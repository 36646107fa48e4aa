import EditorWorker from 'monaco-editor/esm/vs/editor/editor.worker.js?worker';
import JsonWorker from 'monaco-editor/esm/vs/language/json/json.worker.js?worker';
import GraphqlWorker from 'monaco-graphql/esm/graphql.worker.js?worker';

/** Completion and validation run in workers of this origin, which the page's policy demands. */
Object.assign(globalThis, {
  MonacoEnvironment: {
    getWorker(_id: string, label: string): Worker {
      if (label === 'json') return new JsonWorker();
      if (label === 'graphql') return new GraphqlWorker();
      return new EditorWorker();
    },
  },
});
