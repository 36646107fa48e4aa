import '../suite/on-cluster.ts';
import '../../src/endpoints/token/401.test.ts';
