import '../suite/on-cluster.ts';
import '../../src/endpoints/introspection/introspection-endpoint.test.ts';
