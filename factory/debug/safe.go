package debug

import (
	"encoding/json"
	"errors"
	"net"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tidemark-k8s/tidemark/factory/internal/show"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// beforeObjects are the classes of errors that the server returns before it reads an object, so that their
// text contains no values of objects.
var beforeObjects = map[reflector.ErrorClass]bool{
	reflector.ErrorExpired: true, reflector.ErrorBusy: true, reflector.ErrorForbidden: true,
	reflector.ErrorUnauthorized: true, reflector.ErrorNotServed: true,
}

// errorText describes an error of a list or watch without values of objects.
func (s subject) errorText(class reflector.ErrorClass, err error) string {
	text := show.ClassText(class)
	if s.secret {
		return text
	}
	var network *net.OpError
	status := apierrors.APIStatus(nil)
	switch {
	case beforeObjects[class] && errors.As(err, &status):
		return oneLine(status.Status().Message)
	case errors.As(err, &network):
		return oneLine(network.Error())
	}
	return text + fieldOf(err)
}

// quarantineText says why an object is quarantined, without its values.
func (s subject) quarantineText(err error) string {
	switch {
	case errors.Is(err, informer.ErrTransform):
		return "The transform failed."
	case errors.Is(err, informer.ErrDecode):
		return "It cannot be decoded." + fieldOf(err)
	}
	return "It cannot be prepared for the store."
}

// fieldOf names the field that could not be decoded, if the error names it.
func fieldOf(err error) string {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) && mismatch.Field != "" {
		return " Field " + printable(mismatch.Field) + " has another type."
	}
	return ""
}

// oneLine makes a text one printable line.
func oneLine(text string) string { return printable(strings.Join(strings.Fields(text), " ")) }
