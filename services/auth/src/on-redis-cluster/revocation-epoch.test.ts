import '../suite/on-cluster.ts';
import '../revocation-epoch-endpoint/revocation-epoch-endpoint.test.ts';
