import '../suite/on-cluster.ts';
import '../../src/abuse/429-failed-attempts.test.ts';
