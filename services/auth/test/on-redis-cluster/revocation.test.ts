import '../suite/on-cluster.ts';
import '../../src/endpoints/revocation/revocation-endpoint.test.ts';
