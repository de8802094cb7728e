"""How the control plane answers with a problem: in the form of the service's."""

from starlette.requests import Request
from starlette.responses import Response

from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.http.answers import problem_answer
from image_workflow_emulator.http.heads import HEAD, Head


async def refuse(request: Request, error: Exception) -> Response:
    """Answer with a problem.

    What is neither a problem nor a complaint about a document is a defect of the
    emulator: it is logged, and answered with internal_error.
    """
    request_id: str = request.state.request_id
    problem = _problem_of(request, error)
    answer = problem_answer(problem, request_id, problem.retry_after)
    response = Response(content=answer.body, status_code=answer.status)
    response.raw_headers = list(answer.headers)
    return response


def _problem_of(request: Request, error: Exception) -> Problem:
    if isinstance(error, Problem):
        return error
    if isinstance(error, DocumentError):
        return Problem("invalid_request", str(error))
    head: Head = request.scope[HEAD]
    return head.internal_error(error, request.state.request_id)
