import '../suite/on-cluster.ts';
import '../introspection-endpoint/introspection-endpoint.test.ts';
