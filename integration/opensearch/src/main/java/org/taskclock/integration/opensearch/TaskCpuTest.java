package org.taskclock.integration.opensearch;
public final class TaskCpuTest {
  public static void main(String[] a) throws Exception {
    try (SearchNode n = new SearchNode()) {
      HttpConnection c = new HttpConnection(n.address().address());
      System.out.println(c.send("GET","/",""));
      c.send("PUT","/docs","{\"settings\":{\"number_of_shards\":1,\"number_of_replicas\":0}}");
      c.send("PUT","/docs/_doc/1?refresh","{\"a\":1}");
      System.out.println(c.send("POST","/docs/_search","{}"));
      System.out.println(c.send("GET","/_tasks?detailed",""));
    }
  }
}
