// The tour with the client that openapi-generator makes for Go.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"example.org/example/service"
)

const mostPolls = 50

var (
	background = context.WithValue(context.Background(), service.ContextAccessToken, os.Getenv("IMAGE_WORKFLOW_API_KEY"))
	client     = newClient()
)

func newClient() *service.APIClient {
	configuration := service.NewConfiguration()
	configuration.Servers = service.ServerConfigurations{{URL: os.Getenv("IMAGE_WORKFLOW_BASE_URL")}}
	return service.NewAPIClient(configuration)
}

// good returns what was answered, and ends the tour where that is an error.
func good[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// answered does so for what comes with the response.
func answered[T any](value T, _ *http.Response, err error) T {
	return good(value, err)
}

func send(method, url string, headers map[string]string, body []byte) []byte {
	request := good(http.NewRequest(method, url, bytes.NewReader(body)))
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response := good(http.DefaultClient.Do(request))
	defer response.Body.Close()
	return good(io.ReadAll(response.Body))
}

func wait(response *http.Response) {
	time.Sleep(time.Duration(good(strconv.Atoi(response.Header.Get("Retry-After")))) * time.Second)
}

func bringInPhoto() *service.Asset {
	photo := good(os.ReadFile(os.Getenv("TOUR_PHOTO")))
	announced := service.NewCreateUpload(service.UPLOADCONTENTTYPE_IMAGE_JPEG, int32(len(photo)))
	create := client.UploadsAPI.CreateUpload(background).IdempotencyKey("upload").CreateUpload(*announced)
	session := answered(create.Execute())
	recipe := session.Upload
	var token service.CompleteUpload
	if err := json.Unmarshal(send(recipe.Method, recipe.Url, recipe.Headers, photo), &token); err != nil {
		panic(err)
	}
	complete := client.UploadsAPI.CompleteUpload(background, session.Id).IdempotencyKey("complete")
	return answered(complete.CompleteUpload(token).Execute())
}

func makeProduct(photo *service.Asset) *service.Product {
	body := service.NewProductWrite("Shirt", []string{photo.Id}, photo.Id)
	return answered(client.ProductsAPI.CreateProduct(background).IdempotencyKey("product").ProductWrite(*body).Execute())
}

func makeFashionModel(photo *service.Asset) *service.FashionModel {
	age, gender := service.AGERANGE_AGE_25_TO_35, service.GENDER_FEMALE
	body := service.NewFashionModelWrite("Kim", age, gender, []string{photo.Id})
	create := client.FashionModelsAPI.CreateFashionModel(background).IdempotencyKey("fashion model")
	return resultOf(answered(create.FashionModelWrite(*body).Execute()))
}

func resultOf(admitted *service.Operation) *service.FashionModel {
	for polls := 0; polls < mostPolls; polls++ {
		operation, response, err := client.OperationsAPI.GetOperation(background, admitted.Id).Execute()
		good(operation, err)
		if operation.Status == service.OPERATIONSTATUS_COMPLETED {
			made := operation.Result.Get().Id
			return answered(client.FashionModelsAPI.GetFashionModel(background, made).Execute())
		}
		wait(response)
	}
	panic("the fashion model does not come to be")
}

// change changes a fashion model at once, and then by an Operation; it tells what each change was answered with.
func change(model *service.FashionModel, photo *service.Asset) (*service.FashionModel, []string) {
	patch := func(key string, body service.FashionModelPatch) *service.FashionModelOrOperation {
		update := client.FashionModelsAPI.UpdateFashionModel(background, model.Id).IdempotencyKey(key)
		return answered(update.FashionModelPatch(body).Execute())
	}
	name := "Kim Lee"
	renamed := patch("rename", service.FashionModelPatch{Name: &name}).FashionModel
	admitted := patch("remake", service.FashionModelPatch{AssetIds: []string{photo.Id}}).Operation
	return resultOf(admitted), []string{renamed.Object, admitted.Object}
}

func photoshoot(product *service.Product, model *service.FashionModel) service.ProductPhotography {
	order := service.NewProductPhotography(service.OUTPUTMODE_PHOTOSHOOT)
	order.SetProductIds([]string{product.Id})
	selected := service.NewSelectedFashionModel("selected", model.Id)
	order.SetFashionModel(service.SelectedFashionModelAsFashionModelSelection(selected))
	transparent := service.NewTransparentBackground("transparent")
	order.SetBackground(service.TransparentBackgroundAsBackgroundSelection(transparent))
	order.SetAspectRatio(service.ASPECTRATIO_RATIO_4_TO_5)
	order.SetOutputFormat(service.IMAGEFORMAT_WEBP)
	return *order
}

func order(key string, body service.ProductPhotography) (*service.Generation, error) {
	create := client.GenerationsAPI.CreateProductPhotographyGeneration(background).IdempotencyKey(key)
	generation, _, err := create.ProductPhotography(body).Execute()
	return generation, err
}

func takePictures(body service.ProductPhotography) (*service.Generation, int) {
	ordered, again := good(order("photoshoot", body)), good(order("photoshoot", body))
	if again.Id != ordered.Id {
		panic("a replay made something new")
	}
	for polls := 1; polls < mostPolls; polls++ {
		generation, response, err := client.GenerationsAPI.GetGeneration(background, ordered.Id).Execute()
		good(generation, err)
		if generation.Status == service.GENERATIONSTATUS_COMPLETED {
			return generation, polls
		}
		wait(response)
	}
	panic("the photoshoot does not end")
}

func downloadPicture(output service.GenerationOutput) []any {
	asset := answered(client.AssetsAPI.GetAsset(background, output.Asset.Get().Id).Execute())
	file := send(http.MethodGet, asset.Url, nil, nil)
	return []any{asset.Format, asset.Width, asset.Height, len(file) == int(asset.SizeBytes)}
}

func provoke(body service.ProductPhotography) service.UnprocessableWriteCode {
	body.SetImageCount(3)
	_, err := order("too few", body)
	var refusal *service.GenericOpenAPIError
	if !errors.As(err, &refusal) {
		panic(err)
	}
	return refusal.Model().(service.UnprocessableWriteProblem).Code
}

func main() {
	photo := bringInPhoto()
	product := makeProduct(photo)
	model, changes := change(makeFashionModel(photo), photo)
	body := photoshoot(product, model)
	generation, polls := takePictures(body)
	pictures := [][]any{}
	for _, output := range generation.Outputs {
		pictures = append(pictures, downloadPicture(output))
	}
	report := map[string]any{
		"photo":          []any{photo.Format, photo.Width, photo.Height},
		"product_photos": len(product.AssetIds),
		"fashion_model":  model.Name,
		"changes":        changes,
		"echo":           generation.Request.(map[string]interface{})["output_mode"],
		"pictures":       pictures,
		"polls":          polls,
		"problem":        provoke(body),
		"credits":        answered(client.TeamAPI.GetTeam(background).Execute()).Credits,
	}
	fmt.Println(string(good(json.Marshal(report))))
}
