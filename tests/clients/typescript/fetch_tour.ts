/** The tour with the client that openapi-generator makes for TypeScript and fetch. */

import { API_KEY, BASE_URL, MOST_POLLS, PHOTO, downloadedBytes, sendPhoto, tell, wait } from "./around.js";
import {
  AgeRange,
  AspectRatio,
  AssetsApi,
  Configuration,
  FashionModelsApi,
  Gender,
  GenerationsApi,
  ImageFormat,
  OperationsApi,
  OutputMode,
  ProductsApi,
  ResponseError,
  TeamApi,
  UnprocessableWriteProblemFromJSON,
  UploadContentType,
  UploadsApi,
} from "./fetch/index.js";
import type {
  Asset,
  FashionModel,
  Generation,
  GenerationOutput,
  Operation,
  Product,
  ProductPhotography,
} from "./fetch/index.js";

const configuration = new Configuration({ basePath: BASE_URL, accessToken: API_KEY });
const models = new FashionModelsApi(configuration);
const generations = new GenerationsApi(configuration);

async function bringInPhoto(): Promise<Asset> {
  const uploads = new UploadsApi(configuration);
  const createUpload = { contentType: UploadContentType.ImageJpeg, sizeBytes: PHOTO.length };
  const { id, upload } = await uploads.createUpload({ idempotencyKey: "upload", createUpload });
  const uploadToken = await sendPhoto(upload.method, upload.url, upload.headers);
  const asset = await uploads.completeUpload({
    uploadId: id,
    idempotencyKey: "complete",
    completeUpload: { uploadToken },
  });
  if (Number.isNaN(asset.createdAt.getTime())) throw new Error("the Asset has no date");
  return asset;
}

async function makeProduct({ id }: Asset): Promise<Product> {
  const productWrite = { name: "Shirt", assetIds: [id], primaryAssetId: id };
  return new ProductsApi(configuration).createProduct({ idempotencyKey: "product", productWrite });
}

async function makeFashionModel({ id }: Asset): Promise<FashionModel> {
  const fashionModelWrite = {
    name: "Kim",
    ageRange: AgeRange.AGE_25_TO_35,
    gender: Gender.Female,
    assetIds: [id],
  };
  return resultOf(await models.createFashionModel({ idempotencyKey: "fashion model", fashionModelWrite }));
}

async function resultOf({ id }: Operation): Promise<FashionModel> {
  for (let polls = 0; polls < MOST_POLLS; polls++) {
    const answer = await new OperationsApi(configuration).getOperationRaw({ operationId: id });
    const { status, result } = await answer.value();
    if (status === "failed") throw new Error("the fashion model failed");
    if (status === "completed" && result) return models.getFashionModel({ fashionModelId: result.id });
    await wait(answer.raw.headers.get("Retry-After"));
  }
  throw new Error("the fashion model does not come to be");
}

/** Changes a fashion model at once, and then by an Operation; tells what each change was answered with. */
async function change({ id }: FashionModel, photo: Asset): Promise<{ model: FashionModel; changes: string[] }> {
  const patch = (idempotencyKey: string, fashionModelPatch: object) =>
    models.updateFashionModel({ fashionModelId: id, idempotencyKey, fashionModelPatch });
  const renamed = await patch("rename", { name: "Kim Lee" });
  const admitted = await patch("remake", { assetIds: [photo.id] });
  if (admitted.object !== "operation") throw new Error("the new source was not admitted as work");
  return { model: await resultOf(admitted), changes: [renamed.object, admitted.object] };
}

function photoshoot(product: Product, model: FashionModel): ProductPhotography {
  return {
    outputMode: OutputMode.Photoshoot,
    productIds: [product.id],
    fashionModel: { type: "selected", fashionModelId: model.id },
    background: { type: "transparent" },
    aspectRatio: AspectRatio.RATIO_4_TO_5,
    outputFormat: ImageFormat.Webp,
  };
}

async function takePictures(
  productPhotography: ProductPhotography,
): Promise<{ generation: Generation; polls: number }> {
  const order = { idempotencyKey: "photoshoot", productPhotography };
  const { id } = await generations.createProductPhotographyGeneration(order);
  const again = await generations.createProductPhotographyGeneration(order);
  if (again.id !== id) throw new Error("a replay made something new");
  for (let polls = 1; polls < MOST_POLLS; polls++) {
    const answer = await generations.getGenerationRaw({ generationId: id });
    const generation = await answer.value();
    if (generation.status === "completed") return { generation, polls };
    await wait(answer.raw.headers.get("Retry-After"));
  }
  throw new Error("the photoshoot does not end");
}

async function downloadPicture({ asset: made }: GenerationOutput): Promise<[string, number, number, boolean]> {
  if (made === null) throw new Error("a slot has no picture");
  const asset = await new AssetsApi(configuration).getAsset({ assetId: made.id });
  return [asset.format, asset.width, asset.height, (await downloadedBytes(asset.url)) === asset.sizeBytes];
}

async function provoke(order: ProductPhotography): Promise<string> {
  const productPhotography = { ...order, imageCount: 3 };
  try {
    await generations.createProductPhotographyGeneration({ idempotencyKey: "too few", productPhotography });
  } catch (refusal) {
    if (!(refusal instanceof ResponseError)) throw refusal;
    return UnprocessableWriteProblemFromJSON(await refusal.response.json()).code;
  }
  throw new Error("a photoshoot of three was admitted");
}

const photo = await bringInPhoto();
const product = await makeProduct(photo);
const { model, changes } = await change(await makeFashionModel(photo), photo);
const order = photoshoot(product, model);
const { generation, polls } = await takePictures(order);
tell({
  photo: [photo.format, photo.width, photo.height],
  product_photos: product.assetIds.length,
  fashion_model: model.name,
  changes,
  echo: generation.request.output_mode,
  pictures: await Promise.all(generation.outputs.map(downloadPicture)),
  polls,
  problem: await provoke(order),
  credits: (await new TeamApi(configuration).getTeam()).credits,
});
