import '../suite/on-cluster.ts';
import '../../src/endpoints/revocation-epoch/revocation-epoch-endpoint.test.ts';
