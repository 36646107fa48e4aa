import '../suite/on-cluster.ts';
import '../revocation-endpoint/revocation-endpoint.test.ts';
