// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.core.sync.ResponseTransformer;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.NoSuchBucketException;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * A part of a bucket of an object storage with the interface of S3. Credentials, region, and address are those of the
 * AWS SDK: environment variables such as AWS_ENDPOINT_URL, files, or those of the machine.
 */
final class ObjectStore implements AutoCloseable {
    private static final Pattern URL = Pattern.compile("s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*))?");
    private static final Duration CONNECT = Duration.ofSeconds(10);
    private static final Duration READ = Duration.ofSeconds(60);

    private final String bucket;
    private final String prefix;
    private final S3Client client;

    private ObjectStore(String bucket, String prefix, S3Client client) {
        this.bucket = bucket;
        this.prefix = prefix;
        this.client = client;
    }

    /** Opens s3://BUCKET/PREFIX. */
    static ObjectStore open(String url) throws HistoryException {
        Matcher matcher = match(url);
        String path = matcher.group(2) == null ? "" : matcher.group(2).replaceAll("/+$", "");
        try {
            S3ClientBuilder builder = S3Client.builder()
                    .httpClientBuilder(UrlConnectionHttpClient.builder()
                            .connectionTimeout(CONNECT)
                            .socketTimeout(READ))
                    // Other servers do not know the newer checksums.
                    .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                    .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED);
            if (isSet("AWS_ENDPOINT_URL", "aws.endpointUrl") || isSet("AWS_ENDPOINT_URL_S3", "aws.endpointUrlS3")) {
                builder.forcePathStyle(true);
                if (!isSet("AWS_REGION", "aws.region")) builder.region(Region.US_EAST_1);
            }
            return new ObjectStore(matcher.group(1), path.isEmpty() ? "" : path + "/", builder.build());
        } catch (SdkException e) {
            throw new HistoryException(url + ": " + firstLine(e), e);
        }
    }

    /** Checks the form of an address. */
    static void check(String url) throws HistoryException {
        match(url);
    }

    private static Matcher match(String url) throws HistoryException {
        Matcher matcher = URL.matcher(url);
        if (!matcher.matches()) throw new HistoryException(url + ": must be like s3://BUCKET/PREFIX");
        return matcher;
    }

    private static boolean isSet(String variable, String property) {
        return System.getenv(variable) != null || System.getProperty(property) != null;
    }

    /** An object; the key is relative to the prefix. */
    record Entry(String key, long bytes, String etag) {}

    /** Passes on the objects whose keys begin with a text. */
    void list(String start, Consumer<Entry> entries) throws HistoryException {
        try {
            for (S3Object object : client.listObjectsV2Paginator(
                            request -> request.bucket(bucket).prefix(prefix + start))
                    .contents())
                entries.accept(new Entry(object.key().substring(prefix.length()), object.size(), object.eTag()));
        } catch (SdkException e) {
            throw failure(start, e);
        }
    }

    void get(String key, Path file) throws HistoryException {
        try {
            client.getObject(request -> request.bucket(bucket).key(prefix + key), ResponseTransformer.toFile(file));
        } catch (SdkException e) {
            throw failure(key, e);
        }
    }

    /** Writes an object. It appears when it is whole. */
    void put(String key, Path file) throws HistoryException {
        try {
            client.putObject(request -> request.bucket(bucket).key(prefix + key), RequestBody.fromFile(file));
        } catch (SdkException e) {
            throw failure(key, e);
        }
    }

    private HistoryException failure(String key, SdkException e) {
        String name = "s3://" + bucket + "/" + prefix + key + ": ";
        if (e instanceof NoSuchBucketException) return new HistoryException(name + "there is no such bucket", e);
        if (e instanceof AwsServiceException answer) {
            int status = answer.statusCode();
            if (status == 401 || status == 403)
                return new HistoryException(name + "access denied: check the credentials and the bucket's policy", e);
            if (status == 301) return new HistoryException(name + "the bucket is in another region: set AWS_REGION", e);
            return new HistoryException(name + "the object storage answers with status " + status, e);
        }
        String reason = firstLine(e);
        return new HistoryException(
                name
                        + (reason.contains("credentials")
                                ? "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile"
                                : reason + ": check AWS_ENDPOINT_URL"),
                e);
    }

    private static String firstLine(SdkException e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
    }

    @Override
    public String toString() {
        return "s3://" + bucket + "/" + prefix;
    }

    @Override
    public void close() {
        client.close();
    }
}
