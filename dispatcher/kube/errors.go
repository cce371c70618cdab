package kube

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/squall-chaos/squall/dispatcher"
)

// meaning says what the error of a request proves. See the table in doc.go.
func meaning(err error, connected bool) error {
	var refusal apierrors.APIStatus
	if !errors.As(err, &refusal) {
		if connected {
			return dispatcher.ErrUnknown
		}
		return dispatcher.ErrUnavailable
	}
	status := refusal.Status()
	switch {
	case status.Code == http.StatusTooManyRequests:
		// API priority and fairness turns requests away in plain text (apiserver/pkg/server/filters, tooManyRequests).
		return dispatcher.ErrThrottled
	case apierrors.IsUnexpectedServerError(err), status.Code < 400, status.Code >= 500:
		return dispatcher.ErrUnknown
	}
	return refused(status)
}

// refused is the meaning of a 4xx that the API server itself answered with.
func refused(s metav1.Status) error {
	switch s.Code {
	case http.StatusUnauthorized:
		return dispatcher.ErrUnavailable
	case http.StatusForbidden:
		return forbidden(s)
	case http.StatusNotFound:
		return dispatcher.ErrNotFound
	case http.StatusConflict:
		return conflict(s)
	case http.StatusGone:
		return dispatcher.ErrExpired
	case http.StatusUnprocessableEntity:
		if caused(s, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" }) {
			return dispatcher.ErrConflict
		}
	}
	return dispatcher.ErrRejected
}

func conflict(s metav1.Status) error {
	switch {
	case s.Reason == metav1.StatusReasonAlreadyExists:
		return dispatcher.ErrExists
	case s.Details != nil && s.Details.Kind == "resourcequotas":
		return dispatcher.ErrThrottled // two creates charged one quota at once, and neither was made by this one
	}
	return dispatcher.ErrConflict
}

// forbidden tells the three that answer 403 apart. The authorizer judges a create before its body is read, so it knows no
// name, and what it refuses is the caller; admission names the object.
func forbidden(s metav1.Status) error {
	switch {
	case s.Details == nil || s.Details.Name == "",
		caused(s, func(c metav1.StatusCause) bool { return c.Type == corev1.NamespaceTerminatingCause }):
		return dispatcher.ErrUnavailable
	case strings.Contains(s.Message, "exceeded quota"), strings.Contains(s.Message, "status unknown for quota"):
		// Nothing but the text tells (apiserver/pkg/admission/plugin/resourcequota/controller.go, CheckRequest). The second is a quota
		// whose status has a limit and no count; one without either, as all are until their controller comes, limits nothing.
		return dispatcher.ErrThrottled
	}
	return dispatcher.ErrRejected
}

func caused(s metav1.Status, is func(metav1.StatusCause) bool) bool {
	return s.Details != nil && slices.ContainsFunc(s.Details.Causes, is)
}
