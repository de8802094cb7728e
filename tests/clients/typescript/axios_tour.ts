/** The tour with the client that openapi-generator makes for TypeScript and axios. */

import { isAxiosError } from "axios";
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
  TeamApi,
  UploadContentType,
  UploadsApi,
} from "./axios/index.js";
import type {
  Asset,
  FashionModel,
  FashionModelPatch,
  Generation,
  GenerationOutput,
  Operation,
  Product,
  ProductPhotography,
  UnprocessableWriteProblem,
} from "./axios/index.js";

const configuration = new Configuration({ basePath: BASE_URL, accessToken: API_KEY });
const models = new FashionModelsApi(configuration);
const generations = new GenerationsApi(configuration);

async function bringInPhoto(): Promise<Asset> {
  const uploads = new UploadsApi(configuration);
  const announced = { content_type: UploadContentType.ImageJpeg, size_bytes: PHOTO.length };
  const { id, upload } = (await uploads.createUpload("upload", announced)).data;
  const upload_token = await sendPhoto(upload.method, upload.url, upload.headers);
  return (await uploads.completeUpload(id, "complete", { upload_token })).data;
}

async function makeProduct({ id }: Asset): Promise<Product> {
  const body = { name: "Shirt", asset_ids: [id], primary_asset_id: id };
  return (await new ProductsApi(configuration).createProduct("product", body)).data;
}

async function makeFashionModel({ id }: Asset): Promise<FashionModel> {
  const body = { name: "Kim", age_range: AgeRange.AGE_25_TO_35, gender: Gender.Female, asset_ids: [id] };
  return resultOf((await models.createFashionModel("fashion model", body)).data);
}

async function resultOf({ id }: Operation): Promise<FashionModel> {
  for (let polls = 0; polls < MOST_POLLS; polls++) {
    const { data, headers } = await new OperationsApi(configuration).getOperation(id);
    if (data.status === "failed") throw new Error("the fashion model failed");
    if (data.status === "completed" && data.result) return (await models.getFashionModel(data.result.id)).data;
    await wait(headers["retry-after"]);
  }
  throw new Error("the fashion model does not come to be");
}

/** Changes a fashion model at once, and then by an Operation; tells what each change was answered with. */
async function change({ id }: FashionModel, photo: Asset): Promise<{ model: FashionModel; changes: string[] }> {
  const patch = async (key: string, body: FashionModelPatch) => (await models.updateFashionModel(id, key, body)).data;
  const renamed = await patch("rename", { name: "Kim Lee" });
  const admitted = await patch("remake", { asset_ids: [photo.id] });
  if (admitted.object !== "operation") throw new Error("the new source was not admitted as work");
  return { model: await resultOf(admitted), changes: [renamed.object, admitted.object] };
}

function photoshoot(product: Product, model: FashionModel): ProductPhotography {
  return {
    output_mode: OutputMode.Photoshoot,
    product_ids: [product.id],
    fashion_model: { type: "selected", fashion_model_id: model.id },
    background: { type: "transparent" },
    aspect_ratio: AspectRatio.RATIO_4_TO_5,
    output_format: ImageFormat.Webp,
  };
}

async function takePictures(order: ProductPhotography): Promise<{ generation: Generation; polls: number }> {
  const { id } = (await generations.createProductPhotographyGeneration("photoshoot", order)).data;
  const again = await generations.createProductPhotographyGeneration("photoshoot", order);
  if (again.data.id !== id) throw new Error("a replay made something new");
  for (let polls = 1; polls < MOST_POLLS; polls++) {
    const { data, headers } = await generations.getGeneration(id);
    if (data.status === "completed") return { generation: data, polls };
    await wait(headers["retry-after"]);
  }
  throw new Error("the photoshoot does not end");
}

async function downloadPicture({ asset: made }: GenerationOutput): Promise<[string, number, number, boolean]> {
  if (made === null) throw new Error("a slot has no picture");
  const asset = (await new AssetsApi(configuration).getAsset(made.id)).data;
  return [asset.format, asset.width, asset.height, (await downloadedBytes(asset.url)) === asset.size_bytes];
}

async function provoke(order: ProductPhotography): Promise<string> {
  try {
    await generations.createProductPhotographyGeneration("too few", { ...order, image_count: 3 });
  } catch (refusal) {
    if (isAxiosError<UnprocessableWriteProblem>(refusal) && refusal.response) return refusal.response.data.code;
    throw refusal;
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
  product_photos: product.asset_ids.length,
  fashion_model: model.name,
  changes,
  echo: generation.request.output_mode,
  pictures: await Promise.all(generation.outputs.map(downloadPicture)),
  polls,
  problem: await provoke(order),
  credits: (await new TeamApi(configuration).getTeam()).data.credits,
});
