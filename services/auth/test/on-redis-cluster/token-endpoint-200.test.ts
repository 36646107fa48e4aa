import '../suite/on-cluster.ts';
import '../../src/endpoints/token/200.test.ts';
