"""The operations of the service, as methods of both SDKs. `make generate` derives this file."""

from commonhold.api.service import Service
from commonhold.client.offered import offered


class Operations:
    """The methods that are one call of the service each."""

    is_at_work = offered(Service.is_at_work)
    regions = offered(Service.regions)
    list_regions = offered(Service.list_regions)
    read = offered(Service.read)
    saw = offered(Service.saw)
    seen = offered(Service.seen)
    news = offered(Service.news)
    send = offered(Service.send)
    renew = offered(Service.renew)
    release = offered(Service.release)
    ask = offered(Service.ask)
    hand_over = offered(Service.hand_over)
    break_lease = offered(Service.break_lease)
    get = offered(Service.get)
    put = offered(Service.put)
    partial_works = offered(Service.partial_works)
    review = offered(Service.review)
    waive = offered(Service.waive)
    adopt = offered(Service.adopt)
    sweep = offered(Service.sweep)
    leases = offered(Service.leases)
    place = offered(Service.place)
    propose = offered(Service.propose)
    settle = offered(Service.settle)
    take = offered(Service.take)
    keep = offered(Service.keep)
    notice = offered(Service.notice)
    arrive = offered(Service.arrive)
    briefing = offered(Service.briefing)
    intend = offered(Service.intend)
    intent = offered(Service.intent)
    rest = offered(Service.rest)
    depart = offered(Service.depart)
    who = offered(Service.who)
    status = offered(Service.status)
    log = offered(Service.log)
    commits_on = offered(Service.commits_on)
    content = offered(Service.content)
    recover = offered(Service.recover)
    forget = offered(Service.forget)
