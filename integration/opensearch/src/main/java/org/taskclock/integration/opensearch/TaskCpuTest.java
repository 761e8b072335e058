package org.taskclock.integration.opensearch;
public final class TaskCpuTest {
  public static void main(String[] a) throws Exception {
    try (SearchNode n = new SearchNode()) {
      HttpConnection c = new HttpConnection(n.address().address());
      long t=System.nanoTime();
      Documents.index(c,"docs",1);
      System.out.println("index " + (System.nanoTime()-t)/1e9);
      System.out.println(c.send("GET","/_cat/segments",""));
      TaskFigures f=new TaskFigures(); n.tracking().addTaskCompletionListener(f);
      for (String mode : new String[]{"none","all"}) {
      c.send("PUT","/_cluster/settings","{\"persistent\":{\"search.concurrent_segment_search.mode\":\""+mode+"\",\"search.concurrent.max_slice_count\":3}}");
      for (int users : new int[]{5,5,5,5,5000,5000,5000}) {
        f.start(); KernelTimes k=KernelTimes.read(); t=System.nanoTime();
        int len=c.send(Documents.large("docs",30,users)).length;
        double s=(System.nanoTime()-t)/1e9;
        var fs=f.stop(1); KernelTimes e=KernelTimes.read();
        System.out.println(len+" "+s+" kernel "+e.since(k,KernelTimes::isSearch)/1e9+" node "+e.since(k,KernelTimes::isNode)/1e9);
        for (var x:fs) System.out.println("  "+x);
      }
      for (int i=0;i<10;i++) {
        int N=2000;
        f.start(); KernelTimes k=KernelTimes.read(); t=System.nanoTime();
        for (int j=0;j<N;j++) c.send(Documents.small("docs",j));
        double s=(System.nanoTime()-t)/1e9;
        var fs=f.stop(N); KernelTimes e=KernelTimes.read();
        System.out.println(s/N*1e6+" kernel "+e.since(k,KernelTimes::isSearch)/1e3/N+" node "+e.since(k,KernelTimes::isNode)/1e3/N);
        var m=new java.util.TreeMap<String,long[]>();
        for (var x:fs) { var q=m.computeIfAbsent(x.action(),z->new long[3]); q[0]++; q[1]+=x.cpuNanos(); q[2]+=x.executions();}
        m.forEach((z,q)->System.out.println("  "+z+" "+q[0]+" "+q[1]/1e3/N+" "+q[2]));
      }
      }
    }
  }
}
