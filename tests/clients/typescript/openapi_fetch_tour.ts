/** The tour with a client that is all types: those that openapi-typescript makes, and openapi-fetch to send requests by them. */

import createClient from "openapi-fetch";
import { API_KEY, BASE_URL, MOST_POLLS, PHOTO, downloadedBytes, sendPhoto, tell, wait } from "./around.js";
import type { components, paths } from "./service.js";

type Schemas = components["schemas"];

const client = createClient<paths>({ baseUrl: BASE_URL, headers: { Authorization: `Bearer ${API_KEY}` } });

function keyed(key: string): { header: { "Idempotency-Key": string } } {
  return { header: { "Idempotency-Key": key } };
}

/** Returns what was answered, or fails with the problem that came instead. */
function good<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

async function bringInPhoto(): Promise<Schemas["Asset"]> {
  const body = { content_type: "image/jpeg", size_bytes: PHOTO.length } as const;
  const session = good(await client.POST("/uploads", { params: keyed("upload"), body }));
  const { method, url, headers } = session.upload;
  const upload_token = await sendPhoto(method, url, headers);
  const params = { ...keyed("complete"), path: { upload_id: session.id } };
  return good(await client.POST("/uploads/{upload_id}/complete", { params, body: { upload_token } }));
}

async function makeProduct(photo: Schemas["Asset"]): Promise<Schemas["Product"]> {
  const body = { name: "Shirt", asset_ids: [photo.id], primary_asset_id: photo.id };
  return good(await client.POST("/products", { params: keyed("product"), body }));
}

async function makeFashionModel(photo: Schemas["Asset"]): Promise<Schemas["FashionModel"]> {
  const body: Schemas["FashionModelWrite"] = {
    name: "Kim",
    age_range: "25-35",
    gender: "female",
    asset_ids: [photo.id],
  };
  return resultOf(good(await client.POST("/fashion-models", { params: keyed("fashion model"), body })));
}

async function resultOf({ id }: Schemas["Operation"]): Promise<Schemas["FashionModel"]> {
  for (let polls = 0; polls < MOST_POLLS; polls++) {
    const answer = await client.GET("/operations/{operation_id}", { params: { path: { operation_id: id } } });
    const operation = good(answer);
    switch (operation.status) {
      case "queued":
      case "processing":
        await wait(answer.response.headers.get("Retry-After"));
        break;
      case "failed":
        throw new Error(operation.error?.code ?? "failed without a code");
      case "completed": {
        const fashion_model_id = operation.result?.id;
        if (fashion_model_id === undefined) throw new Error("completed without a result");
        return good(await client.GET("/fashion-models/{fashion_model_id}", { params: { path: { fashion_model_id } } }));
      }
    }
  }
  throw new Error("the fashion model does not come to be");
}

/** Changes a fashion model at once, and then by an Operation; tells what each change was answered with. */
async function change(
  { id }: Schemas["FashionModel"],
  photo: Schemas["Asset"],
): Promise<{ model: Schemas["FashionModel"]; changes: string[] }> {
  const at = (key: string) => ({ ...keyed(key), path: { fashion_model_id: id } });
  const path = "/fashion-models/{fashion_model_id}";
  const renamed = good(await client.PATCH(path, { params: at("rename"), body: { name: "Kim Lee" } }));
  const admitted = good(await client.PATCH(path, { params: at("remake"), body: { asset_ids: [photo.id] } }));
  if (admitted.object !== "operation") throw new Error(`the new source was answered with ${admitted.name}`);
  return { model: await resultOf(admitted), changes: [renamed.object, admitted.object] };
}

function photoshoot(product: Schemas["Product"], model: Schemas["FashionModel"]): Schemas["ProductPhotography"] {
  return {
    output_mode: "photoshoot",
    product_ids: [product.id],
    fashion_model: { type: "selected", fashion_model_id: model.id },
    background: { type: "transparent" },
    aspect_ratio: "4:5",
    output_format: "webp",
  };
}

async function takePictures(
  body: Schemas["ProductPhotography"],
): Promise<{ generation: Schemas["Generation"]; polls: number }> {
  const params = keyed("photoshoot");
  const ordered = good(await client.POST("/generations/product-photography", { params, body }));
  const again = good(await client.POST("/generations/product-photography", { params, body }));
  if (again.id !== ordered.id) throw new Error("a replay made something new");
  for (let polls = 1; polls < MOST_POLLS; polls++) {
    const path = { generation_id: ordered.id };
    const answer = await client.GET("/generations/{generation_id}", { params: { path } });
    const generation = good(answer);
    if (generation.status === "completed") return { generation, polls };
    if (generation.status === "failed") throw new Error("the photoshoot failed");
    await wait(answer.response.headers.get("Retry-After"));
  }
  throw new Error("the photoshoot does not end");
}

async function downloadPicture(output: Schemas["GenerationOutput"]): Promise<[string, number, number, boolean]> {
  if (output.asset === null) throw new Error("a slot has no picture");
  const params = { path: { asset_id: output.asset.id } };
  const asset = good(await client.GET("/assets/{asset_id}", { params }));
  return [asset.format, asset.width, asset.height, (await downloadedBytes(asset.url)) === asset.size_bytes];
}

async function provoke(order: Schemas["ProductPhotography"]): Promise<string> {
  const body = { ...order, image_count: 3 };
  const { error, response } = await client.POST("/generations/product-photography", { params: keyed("few"), body });
  if (error === undefined || response.status !== 422) throw new Error(`answered with ${response.status}`);
  switch (error.code) {
    case "invalid_input":
      return error.code;
    default:
      throw new Error(`${error.code}: ${error.detail}`);
  }
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
  echo: (generation.request as Record<string, unknown>).output_mode,
  pictures: await Promise.all(generation.outputs.map(downloadPicture)),
  polls,
  problem: await provoke(order),
  credits: good(await client.GET("/team")).credits,
});
