import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

/** The tour with the client that openapi-generator makes for Java and its own HTTP client. */
class Tour {
    static final int MOST_POLLS = 50;
    static final HttpClient HTTP = HttpClient.newHttpClient();
    static final ObjectMapper JSON = ApiClient.createDefaultObjectMapper();

    final ApiClient client = new ApiClient();
    final FashionModelsApi models;
    final GenerationsApi generations;

    Tour() {
        client.updateBaseUri(System.getenv("IMAGE_WORKFLOW_BASE_URL"));
        String authorization = "Bearer " + System.getenv("IMAGE_WORKFLOW_API_KEY");
        client.setRequestInterceptor(request -> request.header("Authorization", authorization));
        models = new FashionModelsApi(client);
        generations = new GenerationsApi(client);
    }

    Asset bringInPhoto() throws Exception {
        byte[] photo = Files.readAllBytes(Path.of(System.getenv("TOUR_PHOTO")));
        UploadsApi uploads = new UploadsApi(client);
        CreateUpload announced = new CreateUpload().contentType(UploadContentType.IMAGE_JPEG).sizeBytes(photo.length);
        UploadSession session = uploads.createUpload("upload", announced);
        HttpRequest.Builder request = HttpRequest.newBuilder(session.getUpload().getUrl());
        session.getUpload().getHeaders().forEach(request::header);
        request.method(session.getUpload().getMethod().getValue(), HttpRequest.BodyPublishers.ofByteArray(photo));
        String sent = HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString()).body();
        CompleteUpload token = JSON.readValue(sent, CompleteUpload.class);
        return uploads.completeUpload(session.getId(), "complete", token);
    }

    Product makeProduct(Asset photo) throws ApiException {
        ProductWrite body = new ProductWrite().name("Shirt").addAssetIdsItem(photo.getId()).primaryAssetId(photo.getId());
        return new ProductsApi(client).createProduct("product", body);
    }

    FashionModel makeFashionModel(Asset photo) throws Exception {
        FashionModelWrite body = new FashionModelWrite().name("Kim").ageRange(AgeRange.AGE_25_TO_35);
        body.gender(Gender.FEMALE).addAssetIdsItem(photo.getId());
        return resultOf(models.createFashionModel("fashion model", body));
    }

    FashionModel resultOf(Operation admitted) throws Exception {
        for (int polls = 0; polls < MOST_POLLS; polls++) {
            var answer = new OperationsApi(client).getOperationWithHttpInfo(admitted.getId());
            Operation operation = answer.getData();
            if (operation.getStatus() == OperationStatus.COMPLETED) {
                return models.getFashionModel(operation.getResult().getId());
            }
            waitFor(answer.getHeaders());
        }
        throw new AssertionError("the fashion model does not come to be");
    }

    static void waitFor(Map<String, List<String>> headers) throws InterruptedException {
        Thread.sleep(1000L * Integer.parseInt(headers.get("retry-after").get(0)));
    }

    /** Changes a fashion model at once, and then by an Operation; tells what each change was answered with. */
    FashionModel change(FashionModel model, Asset photo, List<Object> changes) throws Exception {
        FashionModelPatch rename = new FashionModelPatch().name("Kim Lee");
        FashionModelPatch remake = new FashionModelPatch().addAssetIdsItem(photo.getId());
        FashionModel renamed = models.updateFashionModel(model.getId(), "rename", rename).getFashionModel();
        Operation admitted = models.updateFashionModel(model.getId(), "remake", remake).getOperation();
        changes.addAll(List.of(renamed.getObject().getValue(), admitted.getObject().getValue()));
        return resultOf(admitted);
    }

    static ProductPhotography photoshoot(Product product, FashionModel model) {
        SelectedFashionModel selected = new SelectedFashionModel();
        selected.type(SelectedFashionModel.TypeEnum.SELECTED).fashionModelId(model.getId());
        TransparentBackground transparent = new TransparentBackground();
        transparent.type(TransparentBackground.TypeEnum.TRANSPARENT);
        return new ProductPhotography()
                .outputMode(OutputMode.PHOTOSHOOT)
                .addProductIdsItem(product.getId())
                .fashionModel(new FashionModelSelection(selected))
                .background(new BackgroundSelection(transparent))
                .aspectRatio(AspectRatio.RATIO_4_TO_5)
                .outputFormat(ImageFormat.WEBP);
    }

    Generation takePictures(ProductPhotography order, Map<String, Object> report) throws Exception {
        Generation ordered = generations.createProductPhotographyGeneration("photoshoot", order);
        Generation again = generations.createProductPhotographyGeneration("photoshoot", order);
        if (!again.equals(ordered)) throw new AssertionError("a replay made something new");
        for (int polls = 1; polls < MOST_POLLS; polls++) {
            var answer = generations.getGenerationWithHttpInfo(ordered.getId());
            if (answer.getData().getStatus() == GenerationStatus.COMPLETED) {
                report.put("polls", polls);
                return answer.getData();
            }
            waitFor(answer.getHeaders());
        }
        throw new AssertionError("the photoshoot does not end");
    }

    List<Object> downloadPicture(GenerationOutput output) throws Exception {
        Asset asset = new AssetsApi(client).getAsset(output.getAsset().getId());
        HttpRequest request = HttpRequest.newBuilder(asset.getUrl()).build();
        int length = HTTP.send(request, HttpResponse.BodyHandlers.ofByteArray()).body().length;
        return List.of(asset.getFormat(), asset.getWidth(), asset.getHeight(), length == asset.getSizeBytes());
    }

    String provoke(ProductPhotography order) throws Exception {
        try {
            generations.createProductPhotographyGeneration("too few", order.imageCount(3));
        } catch (ApiException refusal) {
            return JSON.readValue(refusal.getResponseBody(), UnprocessableWriteProblem.class).getCode().getValue();
        }
        throw new AssertionError("a photoshoot of three was admitted");
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, Object> report = new LinkedHashMap<>();
        Tour tour = new Tour();
        Asset photo = tour.bringInPhoto();
        Product product = tour.makeProduct(photo);
        List<Object> changes = new ArrayList<>();
        FashionModel model = tour.change(tour.makeFashionModel(photo), photo, changes);
        ProductPhotography order = photoshoot(product, model);
        Generation generation = tour.takePictures(order, report);
        List<Object> pictures = new ArrayList<>();
        for (GenerationOutput output : generation.getOutputs()) pictures.add(tour.downloadPicture(output));
        report.put("photo", List.of(photo.getFormat(), photo.getWidth(), photo.getHeight()));
        report.put("product_photos", product.getAssetIds().size());
        report.put("fashion_model", model.getName());
        report.put("changes", changes);
        report.put("echo", ((Map<?, ?>) generation.getRequest()).get("output_mode"));
        report.put("pictures", pictures);
        report.put("problem", tour.provoke(order));
        report.put("credits", new TeamApi(tour.client).getTeam().getCredits());
        System.out.println(JSON.writeValueAsString(report));
    }
}
